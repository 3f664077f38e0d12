//! The model's figures beside the published ones.
//!
//! [`rows`] reads what is published (`calibration/power9/`), [`cases`] finds the micro-benchmarks in their
//! image, [`measure`] runs them, [`table`] puts both together with what was foreseen ([`predictions`]), and
//! [`curves`] shows figures by what grows.

pub mod cases;
pub mod curves;
pub mod measure;
pub mod predictions;
pub mod rows;
pub mod table;
