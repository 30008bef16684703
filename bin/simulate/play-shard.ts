/**
 * `fleetbed play-shard`: the process that plays one shard for its parent, which is a simulator with
 * `--processes` or a worker. Not for people: it hears its order over the channel to its parent.
 */
import type { Command } from 'commander';
import { systemClock } from '../../fixtures/clock.ts';
import type { HeadMessage, PlayerMessage, ShardOrder } from '../../simulator/shards/messages.ts';
import { type PlayerLine, playShard } from '../../simulator/shards/player.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault, reportFault } from '../fault.ts';
import { fleetFault } from '../fleet-outcome.ts';
import { packageVersion } from '../version.ts';
import { judgeFor } from './checks.ts';

/** What a parent says: first the order, then whatever the head says. */
export type ParentMessage = HeadMessage | { readonly say: 'order'; readonly order: ShardOrder };

/** Adds what `fleetbed play-shard` does. */
export function configure(command: Command): void {
  command.action(async () => {
    process.exitCode = await obey();
  });
}

async function obey(): Promise<number> {
  if (process.send === undefined) {
    const sentence =
      'play-shard is started by fleetbed simulate --processes and by fleetbed worker';
    throw new CommandFault(sentence, exitCodes.usage);
  }
  // Ctrl-C reaches the whole group; the parent decides what it means.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  // Without a parent nobody wants the shard any more.
  process.once('disconnect', () => process.exit(exitCodes.interrupted));
  const line = new ParentLine();
  const order = await line.order;
  await playShard(order, {
    line,
    clock: systemClock,
    version: packageVersion(),
    judge: await judgeFor(order.plan),
    faultOf: (error) => reportFault(fleetFault(error, order.plan)),
  });
  await line.delivered;
  return exitCodes.pass;
}

/** The channel to the parent. What is said before anybody listens is kept. */
class ParentLine implements PlayerLine {
  readonly #said: HeadMessage[] = [];
  #hear: ((message: HeadMessage) => void) | undefined;
  readonly order: Promise<ShardOrder>;
  underway = 0;
  /** Settled once the last message is with the parent. */
  delivered: Promise<void> = Promise.resolve();

  constructor() {
    this.order = new Promise((resolve) => {
      process.on('message', (message: ParentMessage) => {
        if (message.say === 'order') resolve(message.order);
        else if (this.#hear) this.#hear(message);
        else this.#said.push(message);
      });
    });
  }

  say(message: PlayerMessage): void {
    // A message that does not get through has no receiver, and the process ends with its channel.
    this.underway++;
    this.delivered = new Promise((resolve) => {
      process.send?.(message, undefined, undefined, () => {
        this.underway--;
        resolve();
      });
    });
  }

  listen(hear: (message: HeadMessage) => void): void {
    this.#hear = hear;
    for (const message of this.#said.splice(0)) hear(message);
  }
}
