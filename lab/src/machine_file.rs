//! Which machine to run on: a description that comes with the command, or the user's own file.

use std::path::Path;

use simulator::Description;
use simulator::description::line_of_key;
use simulator::state::memory::is_available;

use crate::failure::Failure;
use crate::setting::{self, Setting};
use crate::size::Size;
use crate::toml_file::{explain, suggest};
use crate::user_file::Files;

/// The descriptions that come with the command: name and text.
const BUILT_IN: [(&str, &str); 2] = [
    ("power9", include_str!("../../machines/power9.toml")),
    ("power8", include_str!("../../machines/power8.toml")),
];

/// A machine description's text, and the memory that the user asked for instead of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineFile {
    place: String,
    text: String,
    memory: Option<(Size, String)>,
    /// Chips, cores of each, threads of each core, instead of the description's own.
    topology: Option<([u32; 3], String)>,
}

impl Default for MachineFile {
    /// A POWER9.
    fn default() -> Self {
        let (name, text) = BUILT_IN[0];
        Self {
            place: format!("machines/{name}.toml"),
            text: text.to_owned(),
            memory: None,
            topology: None,
        }
    }
}

/// What `name` is, if it is no file's.
fn word(name: &Path) -> Option<&str> {
    name.to_str().filter(|_| name.extension().is_none() && !name.exists())
}

impl MachineFile {
    /// The description with this name, or `None` if none comes with the command.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(name, text)| Self {
            place: format!("machines/{name}.toml"),
            text: (*text).to_owned(),
            memory: None,
            topology: None,
        })
    }

    /// The names of the descriptions that come with the command.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The description's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What to say about a name that is neither built in nor a file's.
    #[must_use]
    pub fn unknown(name: &str) -> String {
        let hint = suggest(name, BUILT_IN.map(|(name, _)| name));
        let stop = if hint.ends_with('?') { "" } else { "." };
        format!(
            "no machine is called `{name}`; {hint}{stop} A description of your own is named by its path, ending in .toml"
        )
    }

    /// The description with this name, or in the user's own file of it.
    ///
    /// # Errors
    /// [`Failure`] if there is neither.
    pub fn named(name: &Path, files: &Files) -> Result<Self, Failure> {
        match word(name).map(|word| Self::built_in(word).ok_or(word)) {
            None => Self::read(name, files),
            Some(Ok(machine)) => Ok(machine),
            Some(Err(word)) => Err(Failure::input("--machine", Self::unknown(word))),
        }
    }

    /// The machine of this name in the place of an experiment's, with the topology and the memory that the experiment
    /// gives that, or in the user's own file of it, which has its own.
    ///
    /// # Errors
    /// As [`MachineFile::named`].
    pub fn instead_of(self, name: &Path, files: &Files) -> Result<Self, Failure> {
        let other = Self::named(name, files)?;
        let Self { memory, topology, .. } = self;
        Ok(if word(name).is_some() { Self { memory, topology, ..other } } else { other })
    }

    /// Fails if there is no timing model of the machine's processor.
    pub fn require_timing(&self) -> Result<(), Failure> {
        let description = self.describe()?;
        let modelled = description.timing().map(|_| ());
        modelled.map_err(|error| Failure::input(&self.place, error))
    }

    /// The description in the user's own file.
    pub fn read(path: &Path, files: &Files) -> Result<Self, Failure> {
        let place = path.display().to_string();
        let text = String::from_utf8(files.read(path)?).map_err(|_| {
            Failure::input(&place, "the file is not text; it must be TOML in UTF-8")
        })?;
        Ok(Self { place, text, memory: None, topology: None })
    }

    /// The same machine with this much memory; complaints about it name `place`.
    #[must_use]
    pub fn with_memory(self, memory: Size, place: impl Into<String>) -> Self {
        Self { memory: Some((memory, place.into())), ..self }
    }

    /// The same machine with so many chips, cores of each and threads of each core; complaints about it
    /// name `place`.
    #[must_use]
    pub fn with_topology(self, topology: [u32; 3], place: impl Into<String>) -> Self {
        Self { topology: Some((topology, place.into())), ..self }
    }

    /// The same machine with these values of its description, as `--set` gives them, or who else it is.
    ///
    /// # Errors
    /// [`Failure`] if the description is wrong, with or without them, or has no such value.
    pub fn with_settings(self, who: &str, settings: &[Setting]) -> Result<Self, Failure> {
        if settings.is_empty() {
            return Ok(self);
        }
        // What is wrong before is the file's fault, and what is wrong behind is not.
        self.describe()?;
        let text = self.set(settings).map_err(|text| Failure::input(who, text))?;
        Ok(Self { text, ..self })
    }

    /// Its description with these values.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn set(&self, settings: &[Setting]) -> Result<String, String> {
        let text = setting::apply(&self.text, settings)?;
        Description::from_toml(&text).map_err(|error| explain(&error.message))?;
        Ok(text)
    }

    /// The machine as the simulator knows it.
    pub fn describe(&self) -> Result<Description, Failure> {
        let mut description = Description::from_toml(&self.text).map_err(|error| {
            let text = error.to_string();
            let of_line = text.strip_prefix("line ").and_then(|text| text.split_once(": "));
            match of_line.and_then(|(line, text)| Some((line.parse().ok()?, text))) {
                Some((line, text)) => Failure::in_line(&self.place, line, explain(text)),
                None => Failure::input(&self.place, text),
            }
        })?;
        if let Some((memory, place)) = &self.memory {
            description.set_memory_bytes(memory.0).map_err(|error| Failure::input(place, error))?;
        }
        self.check_host(&description)?;
        if let Some(([chips, cores, threads], place)) = &self.topology {
            let (chips, cores, threads) = (*chips, *cores, *threads);
            let wrong = |error| Failure::input(place, error);
            description.set_topology(chips, cores, threads).map_err(wrong)?;
        }
        Ok(description)
    }

    /// Fails if this host cannot give the machine its memory.
    fn check_host(&self, description: &Description) -> Result<(), Failure> {
        let bytes = description.memory_bytes();
        if is_available(bytes) {
            return Ok(());
        }
        let mut most = bytes.next_power_of_two();
        while !is_available(most) {
            most /= 2;
        }
        let (wanted, most) = (Size(bytes), Size(most));
        let text = format!("{wanted} of memory is more than this host gives; it gives {most}");
        Err(match &self.memory {
            Some((_, place)) => Failure::input(place, text),
            None => {
                let line = line_of_key(&self.text, "memory[0].bytes").unwrap_or(1);
                Failure::in_line(&self.place, line, text)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::MachineFile;
    use crate::size::Size;
    use crate::user_file::Files;

    #[test]
    fn a_machine_of_ours_has_the_shape_of_the_one_in_whose_place_it_is() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/power8.toml");
        for (name, topology, gib) in [("power8", (1, 2, 4), 6), (file, (1, 1, 1), 2)] {
            let asked = MachineFile::default().with_topology([1, 2, 4], "topology");
            let asked = asked.with_memory(Size(6 << 30), "memory");
            let machine = asked.instead_of(Path::new(name), &Files::default()).unwrap();
            let described = machine.describe().unwrap();
            assert_eq!(described.name(), "power8");
            assert_eq!((described.topology(), described.memory_bytes()), (topology, gib << 30));
        }
    }
}
