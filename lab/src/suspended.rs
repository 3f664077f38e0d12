//! A suspended partition: what its image tells to the host, and where that is in a machine that has written one. The
//! format is in [`arch::image`]; the hypervisor writes it, and checks it again when it goes on with it.

use arch::bundle::Translation;
use arch::image::{COMPATIBLE, FILE_BYTES, MEMORY_BYTES, NAME, PROCESSOR, TRANSLATION};
use arch::processor::Processor;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};
use simulator::Machine;

use crate::bundle::{Partition, looks_like_one};
use crate::record::Record;
use crate::size::Size;

/// The partition of an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspended {
    /// Its name.
    pub name: String,
    memory_bytes: u64,
    translation: String,
    /// What a partition file that says nothing gives it, on the machine that it was suspended on.
    usual: Translation,
    vcpus: u32,
}

impl Suspended {
    /// What `image` tells of its partition. Fails with why it is no image.
    pub fn of(image: &[u8]) -> Result<Self, String> {
        let manifest = image.get(4..).and_then(|rest| rest.first_chunk());
        let manifest = manifest.map(|bytes| u32::from_be_bytes(*bytes) as usize);
        let manifest = manifest.and_then(|bytes| image.get(..bytes));
        let manifest = manifest.filter(|manifest| looks_like_one(manifest));
        let tree = Fdt::new(manifest.ok_or("it is cut")?).map_err(|error| error.to_string())?;
        let root = tree.root();
        let compatible = text(&root, "compatible")?;
        if compatible != COMPATIBLE {
            return Err(format!("it is compatible with {compatible:?} and not with {COMPATIBLE}"));
        }
        let (expected, actual) = (number(&root, FILE_BYTES)?, image.len());
        if expected != actual as u64 {
            return Err(format!("it should have {expected} bytes and has {actual}"));
        }
        let processor = text(&root, PROCESSOR)?;
        let processor = Processor::from_name(processor)
            .ok_or_else(|| format!("there is no processor {processor}"))?;
        Ok(Self {
            name: text(&root, NAME)?.to_owned(),
            memory_bytes: number(&root, MEMORY_BYTES)?,
            translation: text(&root, TRANSLATION)?.to_owned(),
            usual: processor.facts().usual_translation(),
            vcpus: root.children().count() as u32,
        })
    }

    /// Fails with what would be right unless `partition` can go on with the image.
    pub fn check_is(&self, partition: &Partition) -> Result<(), String> {
        let translation = partition.translation.unwrap_or(self.usual).name();
        let here = (partition.memory_bytes, partition.vcpus, translation);
        if here == (self.memory_bytes, self.vcpus, self.translation.as_str()) {
            return Ok(());
        }
        let (memory, vcpus, translation) = here;
        Err(format!(
            "partition {} was suspended with memory = \"{}\", vcpus = {}, translation = \"{}\"; the partition file gives it \
             \"{}\", {vcpus}, \"{translation}\"",
            self.name,
            Size(self.memory_bytes),
            self.vcpus,
            self.translation,
            Size(memory),
        ))
    }
}

fn text<'a>(node: &FdtNode<'a>, name: &str) -> Result<&'a str, String> {
    let value = node.property(name).and_then(|property| property.value_as::<&str>().ok());
    value.ok_or_else(|| format!("no {name}"))
}

fn number(node: &FdtNode<'_>, name: &str) -> Result<u64, String> {
    let value = node.property(name).and_then(|property| property.value_as::<u64>().ok());
    value.ok_or_else(|| format!("no {name}"))
}

/// The image of the partition of this name, out of the memory of a machine whose hypervisor has told `record`, if it
/// was suspended.
#[must_use]
pub fn image(machine: &Machine, record: &Record, name: &str) -> Option<Vec<u8>> {
    let partition = record.partitions.iter().find(|partition| partition.name == name)?;
    let [start, bytes] = partition.image?;
    let mut image = vec![0; usize::try_from(bytes).ok()?];
    (machine.look_at_real(start, &mut image) == image.len()).then_some(image)
}
