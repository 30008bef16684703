/** All followers of one case, which know nothing at its start. */
import type { JudgedExchange } from '../judged-exchange.ts';
import { AuditFollower } from './audit-follower.ts';
import { CaseDevices } from './case-devices.ts';
import { configurationResource } from './configuration-resource.ts';
import { controlMapResource } from './control-map-resource.ts';
import { DeploymentFollower } from './deployment-follower.ts';
import type { FollowedViolation, Follower } from './follower.ts';
import { inventoryResource } from './inventory-resource.ts';
import { ResourceFollower } from './resource-follower.ts';
import { alertsResource, logResource, monitorResource } from './stored-resources.ts';

/** Follows every resource of one case. */
export class CaseFollowers implements Follower {
  readonly #devices = new CaseDevices();
  readonly #resources: readonly (Follower & { readonly unfollowed: number })[];
  readonly #all: readonly Follower[];

  /** @param readsBack true if a device reads the configuration that it wrote */
  constructor(readsBack: boolean) {
    const devices = this.#devices;
    this.#resources = [
      new ResourceFollower(inventoryResource, devices),
      ...(readsBack ? [new ResourceFollower(configurationResource, devices)] : []),
      new ResourceFollower(monitorResource, devices),
      new ResourceFollower(alertsResource, devices),
      new ResourceFollower(logResource, devices),
      new ResourceFollower(controlMapResource, devices),
    ];
    this.#all = [new AuditFollower(), new DeploymentFollower(devices), ...this.#resources];
  }

  /** The number of readings that were not judged, since too many states were possible. */
  get unfollowed(): number {
    return this.#resources.reduce((sum, { unfollowed }) => sum + unfollowed, 0);
  }

  see(exchange: JudgedExchange): readonly FollowedViolation[] {
    this.#devices.learn(exchange);
    return this.#all.flatMap((each) => each.see(exchange));
  }

  seeSilence(exchange: JudgedExchange): void {
    for (const each of this.#all) each.seeSilence(exchange);
  }
}
