import { describe, expect, it } from 'vitest';
import { conflictsWith } from './artifact-conflict.ts';

const board = { device_type: ['board'] };

describe('two artifacts with the same name', () => {
  it.each([
    ['the same device type', board, board],
    ['one device type in common', { device_type: ['a', 'b'] }, { device_type: ['b', 'c'] }],
    ['one value of each in common', { ...board, sum: ['1', '2'] }, { ...board, sum: ['2', '3'] }],
    ['no dependencies', {}, {}],
  ])('conflict when their dependencies overlap: %s', (_, known, added) => {
    expect(conflictsWith(known, added)).toBe(true);
    expect(conflictsWith(added, known)).toBe(true);
  });

  it.each([
    ['other device types', board, { device_type: ['other'] }],
    ['other values of a dependency', { ...board, sum: ['1'] }, { ...board, sum: ['2'] }],
    ['a dependency that nothing meets', { ...board, sum: [] }, { ...board, sum: ['2'] }],
    ['letters', board, { device_type: ['Board'] }],
    ['a dependency that only one has', board, { ...board, checksum: ['1'] }],
    ['a dependency with the name of a member', board, { ...board, constructor: ['1'] }],
    ['different dependencies', { ...board, one: ['1'] }, { ...board, other: ['1'] }],
    ['dependencies of one only', {}, board],
  ])('may coexist otherwise: %s', (_, known, added) => {
    expect(conflictsWith(known, added)).toBe(false);
    expect(conflictsWith(added, known)).toBe(false);
  });
});
