//! How far an experiment's figures hang on where functions lie: it runs with images whose functions the linker has
//! shuffled.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::fcntl::{Flock, FlockArg};
use serde_json::Value;

use crate::images::{Builder, images, payload};
use crate::run::build;
use crate::workspace::{Workspace, output};

/// Where images of other layouts are, and what they are built in, from the target folder.
const FOLDER: &str = "layouts";
/// Of Student's distribution the 97.5 % quantile, by degrees of freedom from 1 on. Beyond the last it is near enough.
const STUDENT: [f64; 20] = [
    12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
    2.12, 2.11, 2.10, 2.09, 2.09,
];

/// What to run, and with how many layouts.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// The experiment: a name of `experiments/`, such as `churn`.
    experiment: String,
    /// With how many layouts it runs, besides that of the images as they are built.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=100))]
    count: u32,
    /// What else `powervisor run` is told, such as `--variant off` or `--machine power8`.
    #[arg(last = true)]
    options: Vec<String>,
}

/// Runs the experiment with each layout, and prints the first figure of each variant, its cycles, and what it loses
/// against another: as built, the mean over the layouts with half the width of its 95 % interval, the least and the
/// most.
pub(crate) fn layouts(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let Arguments { experiment, count, options } = arguments;
    let path = workspace.root.join("experiments").join(experiment).with_extension("toml");
    let text = fs::read_to_string(&path).with_context(|| {
        format!("`{experiment}` is no experiment: there is no {}", path.display())
    })?;
    let mut named = Vec::new();
    let parsed = toml::from_str(&text).with_context(|| path.display().to_string())?;
    find_images(&toml::Value::Table(parsed), &mut named);
    // A kernel of others, such as Linux, stays as it is.
    named.retain(|name| payload(workspace, name).is_some());
    let folder = workspace.target.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let _alone = alone(&folder)?;
    images(workspace)?;
    build(workspace)?;
    let as_built = measure(workspace, &workspace.images(), experiment, options)?;
    let mut measured = Vec::new();
    for layout in 1..=*count {
        eprintln!("{experiment}: layout {layout} of {count}");
        let shuffled = folder.join("images");
        shuffle(workspace, &folder, &shuffled, &named, layout)?;
        measured.push(measure(workspace, &shuffled, experiment, options)?);
    }
    println!("{experiment}: {count} layouts of the hypervisor and of {}\n", named.join(", "));
    print(&as_built, &measured)
}

/// Keeps others from building in `folder` meanwhile: they would run with a layout of ours.
fn alone(folder: &Path) -> Result<Flock<File>> {
    let file = File::create(folder.join("lock"))?;
    let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error);
    locked.with_context(|| format!("another `cargo xtask layouts` works in {}", folder.display()))
}

/// The images that an experiment names: its payloads, and kernels of its own.
fn find_images(value: &toml::Value, named: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                match value {
                    toml::Value::String(name) if ["payload", "image"].contains(&key.as_str()) => {
                        if !named.contains(name) {
                            named.push(name.clone());
                        }
                    }
                    value => find_images(value, named),
                }
            }
        }
        toml::Value::Array(values) => {
            for value in values {
                find_images(value, named);
            }
        }
        _ => {}
    }
}

/// Makes `images` a folder with the images as they are, but for the hypervisor and those that are `named`, whose
/// functions lie as `layout` says.
fn shuffle(
    workspace: &Workspace,
    folder: &Path,
    images: &Path,
    named: &[String],
    layout: u32,
) -> Result<()> {
    if images.exists() {
        fs::remove_dir_all(images)?;
    }
    fs::create_dir_all(images)?;
    for image in fs::read_dir(workspace.images())? {
        let image = image?;
        symlink(image.path(), images.join(image.file_name()))?;
    }
    let builder = Builder::new(workspace, folder)?;
    builder.shuffled(images, named, layout)
}

/// A figure that is printed.
#[derive(Debug)]
struct Row {
    variant: String,
    metric: String,
    value: f64,
}

/// The first figure of each variant, its cycles, and what it loses against another.
fn measure(
    workspace: &Workspace,
    images: &Path,
    experiment: &str,
    options: &[String],
) -> Result<Vec<Row>> {
    let mut command =
        workspace.powervisor(&["run", experiment, "--values-only", "--format", "json"]);
    command.args(options).env("POWERVISOR_IMAGES", images);
    let text = output(&mut command)?;
    let run: Value = serde_json::from_str(&text).context("`powervisor run` printed no JSON")?;
    let mut rows: Vec<Row> = Vec::new();
    for row in run["rows"].as_array().context("`powervisor run` printed no rows")? {
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let (variant, metric) = (word("variant"), word("metric"));
        let is_first = rows.iter().all(|row| row.variant != variant);
        if let Some(value) = row["value"].as_f64()
            && (is_first || metric.starts_with("cycles_per_") || metric == "loss_percent")
        {
            rows.push(Row { variant, metric, value });
        }
    }
    Ok(rows)
}

fn print(as_built: &[Row], measured: &[Vec<Row>]) -> Result<()> {
    let width = as_built.iter().map(|row| row.variant.len() + row.metric.len() + 1).max();
    let width = width.unwrap_or_default();
    let title =
        ["as built", "mean", "half-width", "least", "most"].map(|word| format!("{word:>14}"));
    println!("{:<width$}{}", "figure", title.concat());
    for (index, row) in as_built.iter().enumerate() {
        let values: Option<Vec<f64>> = measured
            .iter()
            .map(|rows| {
                rows.get(index)
                    .filter(|other| other.variant == row.variant && other.metric == row.metric)
            })
            .map(|row| row.map(|row| row.value))
            .collect();
        let values = values.with_context(|| format!("not all runs have {}", row.variant))?;
        let [least, most] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of));
        let (mean, half) = interval(&values)?;
        let figures = [row.value, mean, half, least.unwrap_or(mean), most.unwrap_or(mean)];
        if figures.iter().all(|figure| *figure == 0.0) {
            // What a variant loses against itself.
            continue;
        }
        let decimals = if mean.abs() < 1000.0 { 4 } else { 1 };
        let figures = figures.map(|figure| format!("{figure:>14.decimals$}"));
        let name = format!("{} {}", row.variant, row.metric);
        println!("{name:<width$}{}", figures.concat());
    }
    Ok(())
}

/// The mean of values, and half the width of its 95 % interval.
fn interval(values: &[f64]) -> Result<(f64, f64)> {
    ensure!(values.len() > 1, "an interval needs two values");
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let quantile = STUDENT[(values.len() - 2).min(STUDENT.len() - 1)];
    Ok((mean, quantile * (squares / (count - 1.0) / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_that_of_students_distribution() {
        let (mean, half) = interval(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(mean, 2.5);
        // The standard error is the square root of 5/12.
        assert!((half - 3.18 * (5.0_f64 / 12.0).sqrt()).abs() < 1e-9, "{half}");
        assert!(interval(&[1.0]).is_err());
    }

    #[test]
    fn images_are_found_wherever_an_experiment_names_them() {
        let text = "payload = \"a\"\n[[variant]]\nkernel = { image = \"a-bare\" }\n\
                    partner = [{ name = \"one\", payload = \"b\" }, { payload = \"a\" }]";
        let mut named = Vec::new();
        find_images(&toml::Value::Table(toml::from_str(text).unwrap()), &mut named);
        named.sort();
        assert_eq!(named, ["a", "a-bare", "b"]);
    }
}
