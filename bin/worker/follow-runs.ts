/** Finds the runs that look for workers, and takes part in each until it is over. */
import { hostname } from 'node:os';
import * as v from 'valibot';
import type { Clock } from '../../fixtures/clock.ts';
import type { RedisLink } from '../simulate/redis/connection.ts';
import { FORGOTTEN_AFTER_SECONDS, RUNS_KEY, runKeys } from '../simulate/redis/run-keys.ts';
import { sayOn, type UpMessage } from '../simulate/redis/run-line.ts';
import { missingSecret, type OwnSecrets } from '../simulate/redis/secrets.ts';
import { packageVersion } from '../version.ts';
import { WorkerRun } from './worker-run.ts';

/** What a worker works with. */
export interface FollowOptions {
  readonly link: RedisLink;
  readonly clock: Clock;
  readonly secrets: OwnSecrets;
  readonly say: (text: string) => void;
}

const LOOK_PERIOD_MS = 250;
/** Runs that one worker looks at; more at a time share no machine well. */
const RUNS_MAX = 16;

const infoShape = v.object({
  version: v.string(),
  needs: v.pipe(
    v.string(),
    v.parseJson(),
    v.object({
      operator: v.exactOptional(v.string()),
      tenantToken: v.exactOptional(v.literal(true)),
      key: v.exactOptional(v.literal(true)),
    }),
  ),
  takeoverAfterMs: v.pipe(v.string(), v.toNumber()),
  atOnce: v.pipe(v.string(), v.toNumber()),
});
type RunInfo = v.InferOutput<typeof infoShape>;

/**
 * Works until the signal aborts; then takes no more shards and plays those underway to their end.
 * @throws CommandFault when Redis is lost
 */
export async function followRuns(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const follower = new Follower(options);
  const over = new AbortController();
  try {
    const lost = options.link.lost(over.signal);
    await Promise.race([follower.follow(signal), lost]);
    await Promise.race([follower.finish(), lost]);
  } finally {
    over.abort();
    await follower.close();
  }
}

class Follower {
  readonly #options: FollowOptions;
  readonly #name: string;
  readonly #runs = new Map<string, WorkerRun>();
  /** Runs that this worker has looked at and does not take part in. */
  readonly #refused = new Set<string>();

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#name = `${hostname()}:${process.pid}`;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#look();
      await clock.sleep(LOOK_PERIOD_MS, signal);
    }
  }

  /** Plays what is underway to its end. */
  async finish(): Promise<void> {
    await Promise.all([...this.#runs].map(([run, each]) => this.#leave(run, each.finish())));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
  }

  async #look(): Promise<void> {
    const { client, offsetMs } = this.#options.link;
    const nowMs = this.#options.clock.now() + offsetMs;
    const live = await client.zrangebyscore(RUNS_KEY, nowMs, '+inf', 'LIMIT', 0, RUNS_MAX);
    for (const [run, each] of this.#runs) {
      if (!live.includes(run)) await this.#leave(run, each.close());
    }
    for (const run of live) await this.#see(run);
  }

  async #see(run: string): Promise<void> {
    if (this.#refused.has(run)) return;
    const said = await this.#options.link.client.hgetall(runKeys(run).info);
    const info = v.safeParse(infoShape, said);
    if (!info.success) return;
    const reason = this.#reasonAgainst(info.output);
    if (reason !== undefined) return this.#refuse(run, reason);
    const known = this.#runs.get(run) ?? (await this.#join(run, info.output));
    known.takeAtOnce(info.output.atOnce);
  }

  #reasonAgainst({ version, needs }: RunInfo): string | undefined {
    if (version === packageVersion()) return missingSecret(needs, this.#options.secrets);
    return `it is of version ${packageVersion()}, and the run of ${version}: install the same`;
  }

  async #refuse(run: string, reason: string): Promise<void> {
    this.#refused.add(run);
    const because = `does not take part in run ${run}: ${reason}`;
    this.#options.say(`${this.#name} ${because}`);
    const message: UpMessage = {
      shard: -1,
      player: this.#name,
      message: { say: 'refused', because },
    };
    await sayOn(this.#options.link.client, runKeys(run).up, message);
  }

  async #join(run: string, { needs, takeoverAfterMs }: RunInfo): Promise<WorkerRun> {
    const keys = runKeys(run);
    const { client } = this.#options.link;
    await client.hset(keys.workers, this.#name, 1);
    await client.expire(keys.workers, FORGOTTEN_AFTER_SECONDS);
    const { link, clock, secrets, say } = this.#options;
    const name = this.#name;
    const options = { link, clock, secrets, say, keys, name, needs, takeoverAfterMs };
    const joined = new WorkerRun(options);
    this.#runs.set(run, joined);
    return joined;
  }

  async #leave(run: string, left: Promise<void>): Promise<void> {
    this.#runs.delete(run);
    await left;
    await this.#options.link.client.hdel(runKeys(run).workers, this.#name);
  }
}
