import { describe, expect, it } from 'vitest';
import { PossibleValues } from './possible-values.ts';

function possible(): PossibleValues<string> {
  return new PossibleValues(['colour', 'volume'], 'configuration.own-store');
}

describe('the possible values of a name', () => {
  it('are none at first, so any value is impossible', () => {
    const firstImpossible = possible().firstImpossible({ colour: 'red' });
    expect(firstImpossible).toMatchObject({ name: 'colour', found: 'red' });
    expect(firstImpossible?.reason).toBe('configuration.own-store');
  });

  it.each([
    ['decommissioned', {}],
    ['another one', { colour: 'green' }],
  ])('exclude that a name that was set is %s, and name the requirement', (_, found) => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    expect(values.firstImpossible(found)?.reason).toBe('configuration.write');
    expect(values.firstImpossible({ colour: 'red' })).toBeUndefined();
  });

  it('exclude the former value of a removed name', () => {
    const values = possible();
    values.set('colour', undefined, 'configuration.empty-removes');
    expect(values.firstImpossible({ colour: 'red' })?.reason).toBe('configuration.empty-removes');
  });

  it('consist of two values where the contract is silent, and exclude a third', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.allowAbsence(['volume']);
    expect(values.firstImpossible({ colour: 'red' })).toBeUndefined();
    expect(values.firstImpossible({})).toBeUndefined();
    expect(values.firstImpossible({ colour: 'green' })).toBeDefined();
    expect(values.has('colour')).toBe(false);
  });

  it('consist of one value again once the target has shown it', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.allowAbsence();
    values.adopt({});
    expect(values.firstImpossible({ colour: 'red' })).toBeDefined();
  });

  it('include any value once the former ones are forgotten', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.forget();
    expect(values.firstImpossible({ colour: 'green', volume: '7' })).toBeUndefined();
  });

  it('do not restrict names that no step uses', () => {
    expect(possible().firstImpossible({ preset: 'by the vendor' })).toBeUndefined();
  });
});
