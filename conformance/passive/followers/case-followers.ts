/** All followers of one case, which know nothing at its start. */
import type { JudgedExchange } from '../judged-exchange.ts';
import { AuditFollower } from './audit-follower.ts';
import { CaseDevices } from './case-devices.ts';
import { configurationResource } from './configuration-resource.ts';
import { controlMapResource } from './control-map-resource.ts';
import { DeploymentFollower } from './deployment-follower.ts';
import type { FollowedViolation, Follower } from './follower.ts';
import { inventoryResource } from './inventory-resource.ts';
import type { ReadingCounts } from './reading-counts.ts';
import { ResourceFollower } from './resource-follower.ts';
import { alertsResource, logResource, monitorResource } from './stored-resources.ts';

/** Follows every resource of one case. */
export class CaseFollowers implements Follower {
  readonly #devices = new CaseDevices();
  readonly #all: readonly Follower[];

  /** @param readsBack true if a device reads the configuration that it wrote */
  constructor(readsBack: boolean, counts: ReadingCounts) {
    const devices = this.#devices;
    this.#all = [
      new AuditFollower(),
      new DeploymentFollower(devices),
      new ResourceFollower(inventoryResource, devices, counts),
      ...(readsBack ? [new ResourceFollower(configurationResource, devices, counts)] : []),
      new ResourceFollower(monitorResource, devices, counts),
      new ResourceFollower(alertsResource, devices, counts),
      new ResourceFollower(logResource, devices, counts),
      new ResourceFollower(controlMapResource, devices, counts),
    ];
  }

  see(exchange: JudgedExchange): readonly FollowedViolation[] {
    this.#devices.learn(exchange);
    return this.#all.flatMap((each) => each.see(exchange));
  }

  seeSilence(exchange: JudgedExchange): void {
    for (const each of this.#all) each.seeSilence(exchange);
  }
}
