import { describe, expect, it } from 'vitest';
import { abortRefused, controlMapRefused } from './deployment-change.ts';

const without = 'created without';
const over = 'finished';

describe.each([
  ['running, without a map', {}, undefined, without],
  ['running, with a map', { controlMap: {} }, undefined, undefined],
  ['finished, without a map', { finishedMs: 0 }, over, without],
  ['finished, with a map', { finishedMs: 0, controlMap: {} }, over, over],
])('a deployment that is %s', (_, deployment, abort, map) => {
  it(`refuses to be aborted: ${abort}`, () => {
    expect(abortRefused(deployment)).toEqual(abort && expect.stringContaining(abort));
  });

  it(`refuses another map: ${map}`, () => {
    expect(controlMapRefused(deployment)).toEqual(map && expect.stringContaining(map));
  });
});
