//! `powervisor bundle`: writes a bundle.

use lab::bundle::write;
use lab::partition_file::PartitionFile;

use crate::arguments::BundleArguments;
use crate::failure::Failure;
use crate::output::write_file;
use crate::signals::INTERRUPTION;

pub(super) fn bundle(arguments: &BundleArguments) -> Result<(), Failure> {
    let file = PartitionFile::read(&arguments.file, INTERRUPTION)?;
    write_file(&arguments.output, &write(&file.partitions, &file.sharing)?)
}
