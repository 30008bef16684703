/** Finds runs that need workers, and takes part in each of them until it ends. */
import { hostname } from 'node:os';
import * as v from 'valibot';
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import { missingIn, needsShape, type OwnPlan } from '../../plan/divided-plan.ts';
import type { RedisConnection } from './connection.ts';
import { isReply, sendOn, unreadable } from './run-channel.ts';
import { FORGOTTEN_AFTER_SECONDS, isRunId, RUNS_KEY, runKeys } from './run-keys.ts';
import { RunSigner } from './run-signer.ts';
import { WorkerRun } from './worker-run.ts';

/** Options of a worker that follows runs. */
export interface FollowOptions {
  /** Version of Fleetbed; a run with another version is refused. */
  readonly version: string;
  readonly redis: RedisConnection;
  readonly clock: Clock;
  readonly random: Random;
  /** Secret shared with the coordinators of the runs. */
  readonly secret: string;
  readonly workerPlan: OwnPlan;
  readonly print: (text: string) => void;
}

const LOOK_PERIOD_MS = 250;
/** Maximum number of runs in which one worker takes part at the same time. */
const RUNS_MAX = 16;
const INFO_MAX_CHARACTERS = 16_384;
/**
 * Maximum number of unsigned runs that a worker reports, because anyone with write access to Redis
 * can invent runs.
 */
const UNSIGNED_REPORTED_MAX = 20;
const unsigned =
  'it is not signed with the --worker-secret of this worker: give the coordinator and all workers the same secret';

const infoShape = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    version: v.string(),
    needs: needsShape,
    takeoverAfterMs: v.pipe(v.number(), v.minValue(1000), v.maxValue(600_000)),
    atOnce: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)),
  }),
);
type RunInfo = v.InferOutput<typeof infoShape>;

/**
 * Takes part in runs until the signal aborts. Then it accepts no more shards and finishes those in
 * progress.
 * @throws ClusterError when Redis is lost
 */
export async function followRuns(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const follower = new Follower(options);
  const over = new AbortController();
  try {
    const loss = options.redis.lost(over.signal);
    await Promise.race([follower.follow(signal), loss]);
    await Promise.race([follower.finish(), loss]);
  } finally {
    over.abort();
    await follower.close();
  }
}

class Follower {
  readonly #options: FollowOptions;
  readonly #name: string;
  readonly #runs = new Map<string, WorkerRun>();
  /** Runs that this worker has examined and refused. */
  readonly #refused = new Set<string>();
  #unsignedReported = 0;
  #lookError: string | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#name = `${hostname()}:${process.pid}`;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#unlessRefused(this.#look(), `the key ${RUNS_KEY}`);
      await clock.sleep(LOOK_PERIOD_MS, signal);
    }
  }

  /** Accepts no more shards and waits for those in progress. */
  async finish(): Promise<void> {
    await Promise.all([...this.#runs].map(([run, each]) => this.#leave(run, each.finish())));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
  }

  async #look(): Promise<void> {
    const { client, offsetMs } = this.#options.redis;
    const nowMs = this.#options.clock.now() + offsetMs;
    const live = await client.zrangebyscore(RUNS_KEY, nowMs, '+inf', 'LIMIT', 0, RUNS_MAX);
    for (const run of this.#refused) if (!live.includes(run)) this.#refused.delete(run);
    for (const [run, each] of this.#runs) {
      if (!live.includes(run)) await this.#leave(run, each.close());
    }
    for (const run of live.filter(isRunId)) {
      await this.#unlessRefused(this.#see(run), `run ${run}`);
    }
  }

  /**
   * Runs a step. If Redis refuses a command because a key contains foreign data, the worker reports
   * it once and continues.
   */
  async #unlessRefused(step: Promise<void>, subject: string): Promise<void> {
    try {
      await step;
    } catch (error) {
      if (!isReply(error)) throw error;
      const { message } = unreadable(subject, error);
      if (message !== this.#lookError) this.#options.print(`${this.#name}: ${message}`);
      this.#lookError = message;
    }
  }

  async #see(run: string): Promise<void> {
    if (this.#refused.has(run)) return;
    const { client } = this.#options.redis;
    const signedText = await client.getrange(runKeys(run).info, 0, INFO_MAX_CHARACTERS);
    // The run has ended and its keys have been removed.
    if (signedText === '') return;
    const signer = new RunSigner(this.#options.secret, run);
    const text = signer.open(['info'], signedText, INFO_MAX_CHARACTERS);
    if (text === undefined) return this.#refuseUnsigned(run);
    const info = v.safeParse(infoShape, text);
    const reason = info.success
      ? this.#reasonAgainst(info.output)
      : this.#otherVersion('another one');
    if (reason !== undefined || !info.success) return this.#refuse(run, reason ?? '');
    const workerRun = this.#runs.get(run) ?? (await this.#join(run, info.output));
    workerRun.takeAtOnce(info.output.atOnce);
  }

  #reasonAgainst({ version, needs }: RunInfo): string | undefined {
    if (version === this.#options.version) return missingIn(this.#options.workerPlan, needs);
    return this.#otherVersion(version);
  }

  #otherVersion(version: string): string {
    const ownVersion = this.#options.version;
    return `its version is ${ownVersion}, but that of the run is ${version}: install the same version`;
  }

  async #refuseUnsigned(run: string): Promise<void> {
    if (this.#unsignedReported++ < UNSIGNED_REPORTED_MAX) await this.#refuse(run, unsigned);
    else this.#refused.add(run);
  }

  async #refuse(run: string, reason: string): Promise<void> {
    this.#refused.add(run);
    const { redis, secret, print } = this.#options;
    const refuses = `does not take part in run ${run}: ${reason}`;
    print(`${this.#name} ${refuses}`);
    const endedRun = this.#runs.get(run);
    if (endedRun) await this.#leave(run, endedRun.close());
    const signer = new RunSigner(secret, run);
    const channel = {
      client: redis.client,
      stream: runKeys(run).up,
      signer,
      direction: 'up',
    } as const;
    await sendOn(channel, { worker: this.#name, refuses });
  }

  async #join(run: string, { needs, takeoverAfterMs }: RunInfo): Promise<WorkerRun> {
    const keys = runKeys(run);
    const { secret, version: _, ...options } = this.#options;
    const { client } = options.redis;
    await client.hset(keys.workers, this.#name, 1);
    await client.expire(keys.workers, FORGOTTEN_AFTER_SECONDS);
    const workerRun = new WorkerRun({
      ...options,
      keys,
      signer: new RunSigner(secret, run),
      name: this.#name,
      needs,
      takeoverAfterMs,
      onBroken: (reason) => this.#unlessRefused(this.#refuse(run, reason), `run ${run}`),
    });
    this.#runs.set(run, workerRun);
    return workerRun;
  }

  async #leave(run: string, left: Promise<void>): Promise<void> {
    this.#runs.delete(run);
    await left;
    await this.#options.redis.client.hdel(runKeys(run).workers, this.#name);
  }
}
