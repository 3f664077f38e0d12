//! `powervisor bundle`: writes a bundle.

use lab::bundle::write;
use lab::partition_file::PartitionFile;
use lab::user_file::Files;

use crate::arguments::BundleArguments;
use crate::failure::Failure;
use crate::output::{check_not_read, write_file};
use crate::signals::INTERRUPTION;

pub(super) fn bundle(arguments: &BundleArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let file = PartitionFile::read(&arguments.file, &files)?;
    check_not_read("--output", &arguments.output, &files)?;
    write_file(&arguments.output, &write(&file.partitions, &file.sharing)?)
}
