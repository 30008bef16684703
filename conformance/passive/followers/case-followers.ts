/** All followers of one case, which know nothing at its start. */
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';
import { AuditFollower } from './audit-follower.ts';
import { KnownDevices } from './case-facts.ts';
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
  readonly #facts: KnownDevices;
  readonly #all: readonly Follower[];

  /** @param readsBack true if a device reads the configuration that it wrote */
  constructor(readsBack: boolean, counts: ReadingCounts, allows: Allows) {
    const facts = new KnownDevices(allows);
    this.#facts = facts;
    this.#all = [
      new AuditFollower(),
      new DeploymentFollower(facts),
      new ResourceFollower(inventoryResource, facts, counts),
      ...(readsBack ? [new ResourceFollower(configurationResource, facts, counts)] : []),
      new ResourceFollower(monitorResource, facts, counts),
      new ResourceFollower(alertsResource, facts, counts),
      new ResourceFollower(logResource, facts, counts),
      new ResourceFollower(controlMapResource, facts, counts),
    ];
  }

  see(exchange: JudgedExchange): readonly FollowedViolation[] {
    this.#facts.learn(exchange);
    return this.#all.flatMap((each) => each.see(exchange));
  }

  seeSilence(exchange: JudgedExchange): void {
    for (const each of this.#all) each.seeSilence(exchange);
  }
}
