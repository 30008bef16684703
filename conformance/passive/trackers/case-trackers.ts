/** All trackers of one case, which know nothing at its start. */
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';
import { AuditTracker } from './audit-tracker.ts';
import { AuthenticationTracker } from './authentication-tracker.ts';
import { configurationResource } from './configuration-resource.ts';
import { controlMapResource } from './control-map-resource.ts';
import { DeploymentTracker } from './deployment-tracker.ts';
import { inventoryResource } from './inventory-resource.ts';
import { KnownDevices } from './known-devices.ts';
import type { ReadBackCounter } from './read-back-counter.ts';
import { ResourceTracker } from './resource-tracker.ts';
import { alertsResource, logResource, monitorResource } from './stored-resources.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

/** The resources that the exchanges of a case show. */
export interface TrackingOptions {
  /** True if a device reads the configuration that it wrote. */
  readonly readsBack: boolean;
  /** True if users act by the management API. */
  readonly seesUsers: boolean;
}

/** Tracks every resource of one case. */
export class CaseTrackers implements Tracker {
  readonly #devices: KnownDevices;
  readonly #all: readonly Tracker[];

  constructor({ readsBack, seesUsers }: TrackingOptions, counter: ReadBackCounter, allows: Allows) {
    const devices = new KnownDevices(allows);
    this.#devices = devices;
    this.#all = [
      new AuditTracker(),
      ...(seesUsers ? [new AuthenticationTracker()] : []),
      new DeploymentTracker(devices),
      new ResourceTracker(inventoryResource, devices, counter),
      ...(readsBack ? [new ResourceTracker(configurationResource, devices, counter)] : []),
      new ResourceTracker(monitorResource, devices, counter),
      new ResourceTracker(alertsResource, devices, counter),
      new ResourceTracker(logResource, devices, counter),
      new ResourceTracker(controlMapResource, devices, counter),
    ];
  }

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    this.#devices.record(exchange);
    return this.#all.flatMap((each) => each.judge(exchange));
  }

  recordNoResponse(exchange: JudgedExchange): void {
    for (const each of this.#all) each.recordNoResponse(exchange);
  }
}
