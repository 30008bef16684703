import { describe, expect, it } from 'vitest';
import { duties } from '../../conformance/client-judge/duties/duties.ts';
import { nextStep, type SceneName } from '../../conformance/client-judge/scene-names.ts';
import { readPlan } from '../../server/faults/plan-text.ts';
import type { Step } from './scene.ts';
import { cutScenes } from './scenes/cuts.ts';
import { allScenes, notRun } from './scenes.ts';
import { scheduleOf } from './schedule.ts';

const reports = ['downloading', 'installing', 'rebooting', 'success'];
const everyScene = [...allScenes, ...cutScenes(reports)];
const names: readonly string[] = [...allScenes.map(({ name }) => name), ...Object.keys(notRun)];

const options = {
  selection: [],
  skips: new Map(),
  timeMs: undefined,
  parallel: 4,
  command: './client {server} {ca} {dir}',
  powerOff: undefined,
};
const at = { options, intervalMs: 5000, capabilities: undefined };

describe('the scenes of the client test', () => {
  it.each(duties.flatMap(({ id, scene }) => (scene ? [[id, scene] as const] : [])))(
    'have a row or a reason for the scene of %s, %s',
    (_, scene) => expect(names).toContain(scene),
  );

  it('are each explained to the author of a client by a sentence', () => {
    for (const name of names) expect(nextStep(name as SceneName).text).toMatch(/^\w.{10}/);
  });

  it('are suggested by a command exactly if a client test runs them', () => {
    const refused = Object.keys(notRun).filter((name) => name !== 'power-cut');
    const silent = names.filter((name) => nextStep(name as SceneName).command === undefined);
    expect(silent.toSorted()).toEqual(refused.toSorted());
    expect(nextStep('power-cut').command).toContain('--cuts');
  });

  it('plan only faults that the server accepts', () => {
    const rules = everyScene.flatMap(({ steps }) =>
      steps.flatMap((step: Step) => ('faults' in step ? [step.faults] : [])),
    );
    expect(rules.length).toBeGreaterThan(20);
    for (const each of rules)
      expect(readPlan(JSON.stringify({ rules: each }))).toHaveProperty('rules');
  });

  it('count the time in which a client may connect to an address that it must refuse', () => {
    const [tls] = scheduleOf(allScenes, at).filter(({ scene }) => scene.name === 'tls-untrusted');
    expect(tls?.minMs).toBe(4 * 20_000);
  });

  it('take at most ten minutes in the quick test of a client that polls every 5 s', () => {
    const quick = scheduleOf(allScenes, at).filter(({ reason }) => reason === undefined);
    const sumMs = quick.reduce((sum, { minMs }) => sum + minMs, 0);
    expect(quick.length).toBeGreaterThanOrEqual(35);
    expect(sumMs / 4).toBeLessThan(600_000);
  });
});

describe('the scenes that cut a client', () => {
  it('come before and after each report, and at four places of the download', () => {
    const times = cutScenes(reports).map(({ name }) => name);
    for (const report of reports)
      expect(times.filter((name) => name.includes(`"${report}" is stored`))).toHaveLength(2);
    expect(times.filter((name) => / of the download$/.test(name))).toHaveLength(4);
    expect(new Set(times).size).toBe(times.length);
  });

  it('have no point after a reboot that the client does not report', () => {
    const times = cutScenes(['success']).map(({ name }) => name);
    expect(times.join()).not.toContain('rebooting');
  });
});

describe('the schedule of a client test', () => {
  const omitted = (change: object, name: string): string | undefined =>
    scheduleOf(allScenes, { ...at, options: { ...options, ...change } }).find(
      ({ scene }) => scene.name === name,
    )?.reason;

  it.each([
    ['another scene than the selected one', { selection: ['abort'] }, 'update', /not selected/],
    ['a skipped scene, with its reason', { skips: new Map([['abort', 'no']]) }, 'abort', /^no$/],
    ['a long scene without --time', {}, 'socket-silent', /--time/],
    ['a scene after the time', { timeMs: 1000 }, 'update', /no time is left/],
    [
      'a restart of a client that is started by hand',
      { command: undefined },
      'update-restart',
      /--command/,
    ],
    [
      'a first contact of a client that is started by hand',
      { command: undefined },
      'pending',
      /--command/,
    ],
  ])('leaves out %s', (_, change, name, reason) => {
    expect(omitted(change, name)).toMatch(reason);
  });

  it('leaves out scenes for abilities that the client has not shown', () => {
    const schedule = scheduleOf(allScenes, { ...at, capabilities: [] });
    const reason = new Map(schedule.map((each) => [each.scene.name, each.reason]));
    expect(reason.get('tls-untrusted')).toContain('{ca}');
    expect(reason.get('control-map')).toContain('--capability control-map');
    expect(reason.get('update')).toBeUndefined();
  });

  it('runs a short scene that fits after a long one that does not', () => {
    const change = { timeMs: 300_000, parallel: 1, selection: ['socket-silent', 'bad-request'] };
    expect(omitted({ ...change, timeMs: 100_000 }, 'socket-silent')).toMatch(/no time is left/);
    expect(omitted({ ...change, timeMs: 100_000 }, 'bad-request')).toBeUndefined();
    expect(omitted(change, 'socket-silent')).toBeUndefined();
  });

  it('runs a long scene that is selected, without --time', () => {
    expect(omitted({ selection: ['socket-silent'] }, 'socket-silent')).toBeUndefined();
  });
});
