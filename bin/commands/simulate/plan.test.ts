import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { planWordNames } from '../../../simulator/plan/plan-input.ts';
import { planFrom } from './plan.ts';
import { addPlanOptions } from './plan-options.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function commandOf(args: readonly string[]): Command {
  const command = addPlanOptions(new Command())
    .exitOverride()
    .configureOutput({
      writeErr: () => undefined,
    });
  return command.parse([...args], { from: 'user' });
}

async function planOf(...args: string[]): Promise<FleetPlan> {
  return (await planFrom(commandOf(args))).plan;
}

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('the options of a simulation plan', () => {
  it('include a flag with the same name for every word of a plan file', () => {
    const flags = addPlanOptions(new Command()).options.map((option) => option.attributeName());
    expect(flags).toEqual(expect.arrayContaining([...planWordNames]));
  });

  it('form a complete plan without any other input', async () => {
    expect(await planOf('--devices', '3', '--seed', 'x')).toMatchObject({
      devices: 3,
      seed: 'x',
      pollIntervalMs: 5000,
      rampMs: 1000,
      drainMs: 30_000,
      keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
      behaviours: [{ name: 'steady', weight: 1 }],
    });
  });

  it('generate a new seed when none is given', async () => {
    expect((await planOf()).seed).not.toBe((await planOf()).seed);
  });

  it('override the plan file, and the file overrides the defaults', async () => {
    const file = fileOf('plan.yaml', 'devices: 7\npoll: 2s\nconnect: true\nstage: [hold: 5s]\n');
    const plan = await planOf('--plan', file, '--poll', '5s', '--no-connect', '--keys', 'rsa=2');
    expect(plan.keys).toEqual({ rsa: 2, ecdsa: 0, ed25519: 0 });
    expect(plan).toMatchObject({ devices: 7, pollIntervalMs: 5000, connect: false, rampMs: 1000 });
    expect(plan.stages).toEqual([{ kind: 'hold', durationMs: 5000 }]);
    expect((await planOf('--plan', file)).connect).toBe(true);
  });

  it('describe cohorts, stages, incidents and rates as in a plan file', async () => {
    const plan = await planOf(
      ...['--cohort', 'calm, weight: 2', '--cohort', 'lockstep, backOff: {kind: fixed}'],
      ...['--stage', 'ramp: 3s, devices: 10', '--stage', 'drain: 1s'],
      ...['--incident', 'power-cut, at: 1s', '--arrivals', 'alerts=20/s,logs=1'],
    );
    expect(plan.cohorts?.map(({ name }) => name)).toEqual(['calm', 'lockstep']);
    expect(plan.stages).toHaveLength(2);
    expect(plan.incidents).toEqual([{ name: 'power-cut', atMs: 1000 }]);
    expect(plan.arrivals).toEqual([
      { event: 'alerts', perSecond: 20 },
      { event: 'logs', perSecond: 1 },
    ]);
  });

  it.each([
    ['--stage', 'ramp: 1s, hold: 1s', 'must have exactly one of ramp, hold, burst and drain'],
    ['--incident', 'fire', 'must be one of power-cut'],
    ['--network', 'latency: 300', 'must be a duration with its unit'],
    ['--poll-jitter', '2', 'a number from 0 to 1'],
    ['--poll-spread', 'odd', 'even, random, lockstep'],
    ['--iterations', '0', 'from 1 to'],
    ['--arrivals', 'alerts=never', 'a number above zero'],
    ['--cohort', 'one, poll: 1ms', 'poll: must be a duration from 10ms'],
  ])('refuse for %s the value %j', (flag, text, sentence) => {
    expect(() => commandOf([flag, text])).toThrow(sentence);
  });

  it.each([
    ['devices: many', /plan\.yaml:1:10 devices: must be a whole number/],
    ['poll: 1ms', /plan\.yaml:1:7 poll: must be a duration from 10ms/],
    ['cert: c.pem', /--cert and --key must be given together/],
    ['ca: /no/such/file.pem', /--ca cannot read/],
  ])('refuse a plan file with %j', async (text, sentence) => {
    const file = fileOf('plan.yaml', text);
    await expect(planOf('--plan', file)).rejects.toThrow(sentence);
  });

  it('select the user who accepts devices, by login or token', async () => {
    const given = (...args: string[]) => planOf('--accept', ...args);
    expect((await given('--email', 'a@b.example', '--password', 'x')).acceptWith).toEqual({
      email: 'a@b.example',
      password: 'x',
    });
    expect((await given('--token', 'jwt')).acceptWith).toEqual({ token: 'jwt' });
    const file = fileOf('user.yaml', 'accept: true\npassword: y\n');
    expect((await planOf('--plan', file)).acceptWith).toEqual({
      email: 'admin@example.com',
      password: 'y',
    });
    await expect(planOf('--token', 'jwt')).rejects.toThrow(/'--token <jwt>' needs --accept/);
  });

  it.each([
    [['--poll', '1ms'], '', /^invalid plan: --poll must be a duration from 10ms .*not 1ms$/],
    [[], 'behaviour: { stedy: 1 }', /^invalid plan: behaviour must be one of .*not "stedy"$/],
    [['--behaviour', 'stedy=1'], '', /^invalid plan: --behaviour must be one of .*not "stedy"$/],
    [
      ['--cohort', 'one, behaviour: {stedy: 1}'],
      '',
      /^invalid plan: --cohort: cohort\.0\.behaviour must be one of /,
    ],
  ])('are refused under the given names, such as %j with the file %j', async (args, text, said) => {
    const file = fileOf('given.yaml', `${text}\ndevices: 3\n`);
    await expect(planOf('--plan', file, ...args)).rejects.toThrow(said);
  });

  it('refuse a missing plan file', async () => {
    await expect(planOf('--plan', join(folder, 'none.yaml'))).rejects.toThrow(/--plan cannot read/);
  });
});
