//! From `boot.S` to the image's main: the hypervisor's translation, a heap, the device tree.

use arch::address::RealAddress;
use arch::opal::{reinit, status};

use hypervisor_core::boot::bundle::{HEADER_BYTES, manifest_bytes};
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::memory::{Range, find_free};

use super::machine::Machine;
use super::{Boot, caller, idle, opal, residents, threads};
use crate::host_space::map::{self, KEPT_BYTES_MAX, Kept};
use crate::host_space::memory::{self, HEAP_BYTES, start_heap};
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
    let device_tree = RealAddress(device_tree & !(0xF << 60));
    let data = device_tree_bytes(device_tree);
    let firmware = match Firmware::new(data, device_tree) {
        Ok(firmware) => firmware,
        Err(error) => panic!("firmware's device tree: {error}"),
    };
    check_opal(&firmware);
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

/// The whole tree.
fn device_tree_bytes(address: RealAddress) -> &'static [u8] {
    let reserved = Reserved::new([memory::image(), EMPTY, EMPTY]);
    let mut kept = Kept::at(address);
    let mut map = |bytes| kept.bytes(&reserved, bytes).expect("the device tree fits its place");
    // The header of a bundle's manifest and that of this tree are the same.
    // SAFETY: mapped, so many bytes.
    let header = unsafe { map(HEADER_BYTES).cast::<[u8; HEADER_BYTES as usize]>().read() };
    let bytes = manifest_bytes(header, KEPT_BYTES_MAX)
        .expect("r3 is the address of a flattened device tree");
    // SAFETY: mapped for good; firmware does not change the tree once it has started a payload, and `Reserved` keeps
    // it out of windows and of partitions.
    unsafe { core::slice::from_raw_parts(map(bytes), bytes as usize) }
}

/// What came in registers is what is in the tree, or this is not the firmware it seems to be.
fn check_opal(firmware: &Firmware<'_>) {
    // SAFETY: boot.S has filled the fields.
    let (base, entry) = unsafe { ((*per_cpu()).opal_base, (*per_cpu()).opal_entry) };
    match firmware.opal() {
        Ok(tree) => assert!(tree == (base, entry), "OPAL is not where the device tree says"),
        Err(error) => panic!("firmware's device tree: {error}"),
    }
}
