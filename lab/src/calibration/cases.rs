//! The micro-benchmarks of an image: what `guests/calibrate` writes into its section `.calibration`.

use object::{Object, ObjectSection};

use super::rows::Setup;
use crate::failure::Failure;

const SECTION: &str = ".calibration";
/// Bytes of a description: number, iterations, operations, the code's place, the name, the role.
const DESCRIPTION_BYTES: usize = 64;
const NAME: usize = 16;
const ROLE: usize = 56;
const MODE_SECTION: &str = ".mode";

/// One micro-benchmark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// Its symbol.
    pub name: String,
    /// Of the region that its loop is marked as.
    pub region: u16,
    /// How often the loop's body runs.
    pub iterations: u32,
    /// Things of interest in the body.
    pub operations: u32,
    /// The mode that it runs in: 0 for those with one thread.
    pub role: u8,
}

impl Case {
    /// Things of interest in the region.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.iterations) * u64::from(self.operations)
    }
}

/// The cases of an image.
///
/// # Errors
/// [`Failure::Input`] if it is no such image.
pub fn of_image(image_name: &str, image: &[u8]) -> Result<Vec<Case>, Failure> {
    let wrong = |text: &str| {
        Failure::input(image_name, format_args!("{text}; build the images with `make build`"))
    };
    let file = object::File::parse(image).map_err(|_| wrong("not an ELF file"))?;
    let section = file.section_by_name(SECTION).ok_or_else(|| wrong("no section .calibration"))?;
    let data = section.data().map_err(|_| wrong("its section .calibration is damaged"))?;
    let cases = data.chunks_exact(DESCRIPTION_BYTES).map(|bytes| {
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let name = bytes[NAME..].split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8(name.to_vec()).ok()?;
        let region = u16::try_from(number(0)).ok()?;
        let role = u8::try_from(number(ROLE)).ok()?;
        Some(Case { name, region, iterations: number(4), operations: number(8), role })
    });
    let cases: Option<Vec<Case>> = cases.collect();
    cases
        .filter(|cases| !cases.is_empty())
        .ok_or_else(|| wrong("its section .calibration is damaged"))
}

/// The image with what `others` siblings are to do written into it.
///
/// # Errors
/// [`Failure::Input`] if it is no such image.
pub fn with_mode(name: &str, image: &[u8], setup: &Setup, others: u8) -> Result<Vec<u8>, Failure> {
    let wrong = || Failure::input(name, "no section .mode; build the images with `make build`");
    let file = object::File::parse(image).map_err(|_| wrong())?;
    let section = file.section_by_name(MODE_SECTION).ok_or_else(wrong)?;
    let (offset, _) = section.file_range().ok_or_else(wrong)?;
    let mut mode = [setup.role, others, setup.priority, setup.loses_state.into(), 0, 0, 0, 0];
    mode[4..].copy_from_slice(&setup.distance.to_le_bytes());
    let mut image = image.to_vec();
    let start = usize::try_from(offset).map_err(|_| wrong())?;
    image.get_mut(start..start + mode.len()).ok_or_else(wrong)?.copy_from_slice(&mode);
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::of_image;

    #[test]
    fn what_is_no_image_is_refused() {
        for name in ["calibrate", "calibrate-power8"] {
            let message = of_image(name, b"flat").unwrap_err().to_string();
            let expected = format!("{name}: not an ELF file; build");
            assert!(message.contains(&expected), "{message}");
        }
    }
}
