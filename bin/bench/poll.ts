/**
 * `npm run bench`: the authenticated poll without an update on our server, with its real store and
 * many known devices, next to a bare node:http server that sends the same bytes. Both run in
 * alternating rounds, so that the ratio is valid on any machine.
 */
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import autocannon from 'autocannon';
import { systemClock } from '../../fixtures/clock.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { createOutput } from '../output.ts';
import type { ServerReady } from '../ready.ts';
import type { BareAnswer } from './bare.ts';
import { command } from './child.ts';
import { type Children, machine, median, runBench } from './run-bench.ts';
import { signInDevices } from './signed-in.ts';

const DEVICES = 1000;
const CONNECTIONS = 50;
const ROUNDS = 5;
const ROUND_SECONDS = 4;
const WARM_UP_SECONDS = 2;
const RATIO_TARGET = 0.35;
/** Above this share of a core the generator, not the server, may be the bottleneck. */
const GENERATOR_BUSY_MAX = 0.98;

const output = createOutput(false);
const query = new URLSearchParams({ artifact_name: 'release-1', device_type: 'board' });
const pollPath = `${pathOf(operations['get-next-deployment'])}?${query}`;

/** One server under load. */
interface Contender {
  readonly name: string;
  readonly baseUrl: string;
  /** Responses per second, by round. */
  readonly rates: number[];
  /** Share of a core that the generator used, by round. */
  readonly generatorBusy: number[];
}

await runBench(output, bench);

async function bench(children: Children): Promise<ExitCode> {
  const options = ['--port', '0', '--control-port', '0', '--auto-accept', '--log-level', 'error'];
  const served = await children.start(command, ['serve', '--json', ...options]);
  const ready = JSON.parse(served.firstLine) as ServerReady;
  output.progress(`signing in ${DEVICES} devices`);
  const tokens = await signInDevices(ready, DEVICES);
  const example = await poll(ready.baseUrl, tokens[0] ?? '');
  const bare = await children.start('bare.js', [JSON.stringify(bareAnswerLike(example))]);
  const contenders = [
    contender('node:http', `http://127.0.0.1:${bare.firstLine}`),
    contender('fleetbed', ready.baseUrl),
  ];
  for (const { baseUrl } of contenders) {
    requireSameBytes(example, await poll(baseUrl, tokens[0] ?? ''));
  }
  for (const { baseUrl } of contenders) await load(baseUrl, tokens, WARM_UP_SECONDS);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const each of contenders) await measure(each, tokens);
    output.progress(
      `round ${round}: ${contenders.map(({ rates }) => shown(rates.at(-1))).join(', ')}`,
    );
  }
  return report(contenders);
}

function contender(name: string, baseUrl: string): Contender {
  return { name, baseUrl, rates: [], generatorBusy: [] };
}

function poll(baseUrl: string, token: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get(baseUrl + pollPath, { headers }, (answer) => resolve(answer.resume())).on('error', reject);
  });
}

/** Returns the response with which the bare server sends the same bytes. */
function bareAnswerLike({ statusCode = 0, rawHeaders }: IncomingMessage): BareAnswer {
  if (statusCode !== 204) throw new Error(`the poll was answered ${statusCode}, not 204`);
  const own = new Set(['date', 'connection', 'keep-alive']);
  const headers = rawHeaders.filter(
    (_, at) => !own.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ''),
  );
  const keepAlive = rawHeaders[rawHeaders.indexOf('Keep-Alive') + 1] ?? '';
  const seconds = Number(/timeout=(\d+)/.exec(keepAlive)?.[1] ?? 5);
  return { status: statusCode, headers, keepAliveTimeoutMs: seconds * 1000 };
}

/** The request ID and the time differ between responses, but not in length. */
function requireSameBytes(one: IncomingMessage, other: IncomingMessage): void {
  const sizes = ({ statusCode, rawHeaders }: IncomingMessage): string =>
    JSON.stringify([
      statusCode,
      rawHeaders.map((text, at) => (at % 2 === 0 ? text : text.length)).sort(),
    ]);
  if (sizes(one) === sizes(other)) return;
  throw new Error(`the answers differ: ${one.rawHeaders.join(' ')}; ${other.rawHeaders.join(' ')}`);
}

async function measure(each: Contender, tokens: readonly string[]): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  const before = process.cpuUsage();
  const answers = await load(each.baseUrl, tokens, ROUND_SECONDS);
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = systemClock.monotonicMs() - startedMs;
  each.rates.push(answers / ROUND_SECONDS);
  each.generatorBusy.push((user + system) / 1000 / elapsedMs);
}

/**
 * Polls for some seconds, each connection cycling through devices of its own; returns the number of
 * responses.
 */
async function load(baseUrl: string, tokens: readonly string[], seconds: number): Promise<number> {
  let connection = 0;
  const result = await autocannon({
    url: baseUrl + pollPath,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient: (client) => {
      const own = tokens.filter((_, index) => index % CONNECTIONS === connection);
      connection += 1;
      client.setRequests(own.map((token) => ({ headers: { authorization: `Bearer ${token}` } })));
    },
  });
  const wrong = result.non2xx + result.errors + result.timeouts;
  if (wrong > 0) throw new Error(`${wrong} polls of ${baseUrl} were not answered with 204`);
  return result['2xx'];
}

function report(contenders: readonly Contender[]): ExitCode {
  const [bare = 0, ours = 0] = contenders.map(({ rates }) => median(rates));
  const ratio = ours / bare;
  const rounds = `medians of ${ROUNDS} rounds of ${ROUND_SECONDS} s, ${CONNECTIONS} connections`;
  output.line(`poll without an update, ${DEVICES} devices known, ${rounds}`);
  for (const { name, rates, generatorBusy } of contenders) {
    const busy = Math.round(median(generatorBusy) * 100);
    output.line(
      `  ${name.padEnd(10)} ${shown(median(rates))} answers/s, generator ${busy}% of a core`,
    );
  }
  output.line(`  ratio      ${ratio.toFixed(2)} (at least ${RATIO_TARGET.toFixed(2)})`);
  output.line(`  node ${process.versions.node}, express ${versionOf('express')}, ${machine()}`);
  if (ratio < RATIO_TARGET) return exitCodes.undecided;
  const busiest = Math.max(...contenders.map(({ generatorBusy }) => median(generatorBusy)));
  if (busiest > GENERATOR_BUSY_MAX) {
    output.line('  the generator was busy all the time: the bare server may be faster than shown');
  }
  return exitCodes.pass;
}

function versionOf(name: string): string {
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}

function shown(rate = 0): string {
  return Math.round(rate).toString().padStart(6);
}
