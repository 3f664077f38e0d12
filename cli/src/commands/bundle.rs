//! `powervisor bundle`: writes a bundle.

use crate::arguments::BundleArguments;
use crate::bundle::write;
use crate::failure::Failure;
use crate::output::write_file;
use crate::partition_file::PartitionFile;
use crate::signals::INTERRUPTION;

pub(super) fn bundle(arguments: &BundleArguments) -> Result<(), Failure> {
    let file = PartitionFile::read(&arguments.file, INTERRUPTION)?;
    write_file(&arguments.output, &write(&file.partitions, &file.sharing)?)
}
