/** Watches the load-generating process during the run, and reports its peaks at the end. */

import type { ProcessFacts } from '../result/result-generator.ts';
import type { Machine } from './generator-machine.ts';

/** Numbers of currently open resources. */
export interface OpenNow {
  readonly sockets: number;
  readonly connections: number;
  /** Requests that wait for a connection. */
  readonly queued: number;
}

/** Keeps the maximum of each. */
export class GeneratorWatch {
  readonly #machine: Machine;
  #memoryMaxBytes = 0;
  #socketsMax = 0;
  #connectionsMax = 0;
  #queuedMax = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** To be called about once a second. */
  look({ sockets, connections, queued }: OpenNow): void {
    const { memoryBytes } = this.#machine.read();
    this.#memoryMaxBytes = Math.max(this.#memoryMaxBytes, memoryBytes);
    this.#socketsMax = Math.max(this.#socketsMax, sockets);
    this.#connectionsMax = Math.max(this.#connectionsMax, connections);
    this.#queuedMax = Math.max(this.#queuedMax, queued);
  }

  facts(shard: number, durationMs: number): ProcessFacts {
    const reading = this.#machine.read();
    const { loopBusyMs, loopIdleMs } = reading;
    const shareOf = (partMs: number): number => (durationMs > 0 ? partMs / durationMs : 0);
    return {
      shard,
      durationMs,
      cpuUserShare: shareOf(reading.cpuUserMs),
      cpuSystemShare: shareOf(reading.cpuSystemMs),
      loopBusyShare: loopBusyMs === 0 ? 0 : loopBusyMs / (loopBusyMs + loopIdleMs),
      eventLoopLagP99Ms: reading.eventLoopLagP99Ms,
      eventLoopLagMaxMs: reading.eventLoopLagMaxMs,
      collections: reading.collections,
      collectionShare: shareOf(reading.collectionMs),
      collectionMaxMs: reading.collectionMaxMs,
      memoryMaxBytes: this.#memoryMaxBytes,
      socketsMax: this.#socketsMax,
      connectionsMax: this.#connectionsMax,
      queuedMax: this.#queuedMax,
    };
  }

  close(): void {
    this.#machine.close();
  }
}
