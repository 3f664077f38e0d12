//! From `boot.S` to the image's main: the hypervisor's translation, a heap, the device tree.

use arch::address::RealAddress;
use arch::opal::{reinit, status};

use hypervisor_core::boot::bundle::{BundleError, HEADER_BYTES, manifest_bytes};
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::memory::{Range, find_free};

use super::machine::Machine;
use super::{Boot, caller, idle, opal, residents, threads};
use crate::host_space::map::{self, KEPT_BYTES_MAX, Kept};
use crate::host_space::memory::{self, HEAP_BYTES, IMAGE_BASE, start_heap};
use crate::host_space::region::MapRegion;
use crate::host_space::windows::Reserved;
use crate::host_state::PROCESSOR;
use crate::host_state::per_cpu::per_cpu;
use crate::host_state::{begin, check_version, set_up_thread};
use crate::invalidation::{Scope, invalidate, set_overtakes_stores};
use crate::radix::PAGE_2M;
use crate::registers::{read, spr};

unsafe extern "Rust" {
    safe fn hal_hypervisor_main(machine: Machine, boot: Boot) -> !;
}

/// Called by `boot.S` in real mode at 0xC000..., on the boot stack.
#[unsafe(no_mangle)]
extern "C" fn hal_boot(device_tree: u64, device_tree_lost: u64) -> ! {
    assert!(device_tree_lost == 0, "the image was copied over the device tree at {device_tree:#x}");
    let device_tree = RealAddress(device_tree & !(0xF << 60));
    find_opal(device_tree);
    let pvr = read::<{ spr::PVR }>() as u32;
    check_version(pvr);
    set_overtakes_stores(PROCESSOR.facts().overtakes_stores(pvr));
    let translation = if PROCESSOR.facts().has_radix() { reinit::MMU_RADIX } else { 0 };
    let answer = opal::reinit_cpus(reinit::HILE_LITTLE | translation);
    assert!(
        answer == status::SUCCESS,
        "OPAL_REINIT_CPUS refused little-endian interrupts, or radix: {answer}"
    );
    map::build().expect("the pool has room for the image's tables");
    // SAFETY: the tables are complete; the image is mapped where it runs.
    unsafe {
        set_up_thread(map::ptcr());
        residents::begin(0);
        invalidate(Scope::All);
        begin();
    }

    // From here on the device tree is mapped, for good.
    let reserved = Reserved::new([memory::image(), EMPTY, EMPTY]);
    let mut kept = Kept::at(device_tree);
    let map =
        |bytes| kept.bytes(&reserved, bytes).expect("the device tree fits its place").cast_const();
    let data = tree(map).expect("it was a tree with translation off");
    let firmware = Firmware::new(data, device_tree).expect("it was a tree with translation off");
    idle::set_up(&firmware);
    caller::find(0, threads::boot_thread(), &firmware);
    caller::allow();
    let image = memory::image();
    let heap =
        find_free(firmware.memory(), || firmware.reserved().chain([image]), HEAP_BYTES, PAGE_2M)
            .expect("firmware's device tree has free memory for the heap");
    map::map_heap(heap).expect("the pool has room for the heap's tables");
    // SAFETY: the range is free, mapped, and this is the only call.
    unsafe { start_heap(heap) };
    MapRegion::populate(0).expect("the heap has room for the tables of a thread");
    let tree = Range { start: device_tree, bytes: data.len() as u64 };
    let reserved = Reserved::new([image, heap, tree]);
    #[cfg(feature = "power8")]
    // SAFETY: this is the boot thread, and no other was fetched.
    unsafe {
        super::prefetch::set_up(&firmware, &reserved);
    }
    let boot = Boot { firmware, translation: map::NAME, pvr, own: [image, heap] };
    hal_hypervisor_main(Machine::new(reserved), boot)
}

const EMPTY: Range = Range::new(0, 0);

/// The whole tree that is where `map` makes so many bytes readable.
fn tree(mut map: impl FnMut(u64) -> *const u8) -> Result<&'static [u8], BundleError> {
    // SAFETY: real memory, which nobody changes: firmware's tree, or what r3 says is one.
    let header = unsafe { map(HEADER_BYTES).cast::<[u8; HEADER_BYTES as usize]>().read() };
    // The header of a bundle's manifest and that of this tree are the same.
    let bytes = manifest_bytes(header, KEPT_BYTES_MAX)?;
    // SAFETY: as above. Firmware does not change the tree once it has started a payload, and `Reserved` keeps it out of
    // windows and of partitions.
    Ok(unsafe { core::slice::from_raw_parts(map(bytes), bytes as usize) })
}

/// Takes OPAL's base and entry from the device tree, with translation off: not every program that starts another one
/// passes them in registers. What came there serves the report that there is no such tree, and nothing else.
fn find_opal(device_tree: RealAddress) {
    let tree = tree(|_| (IMAGE_BASE | device_tree.0) as *const u8);
    let tree = tree.expect("r3 is the address of a flattened device tree");
    let opal = Firmware::new(tree, device_tree).and_then(|firmware| firmware.opal());
    match opal {
        // SAFETY: boot.S has made it this thread's, and no other one runs.
        Ok(opal) => unsafe { ((*per_cpu()).opal_base, (*per_cpu()).opal_entry) = opal },
        Err(error) => panic!("firmware's device tree: {error}"),
    }
}
