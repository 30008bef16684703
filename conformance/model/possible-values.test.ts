import { describe, expect, it } from 'vitest';
import { PossibleValues } from './possible-values.ts';

function possible(): PossibleValues<string> {
  return new PossibleValues(['colour', 'volume'], 'configuration.own-store');
}

describe('the values that a name may have', () => {
  it('are none at first, so a foreign value is a misfit', () => {
    const misfit = possible().misfit({ colour: 'red' });
    expect(misfit).toMatchObject({ name: 'colour', found: 'red' });
    expect(misfit?.because).toBe('configuration.own-store');
  });

  it.each([
    ['gone', {}],
    ['another one', { colour: 'green' }],
  ])('do not allow what was set to be %s, and name the rule', (_, found) => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    expect(values.misfit(found)?.because).toBe('configuration.write');
    expect(values.misfit({ colour: 'red' })).toBeUndefined();
  });

  it('do not allow what was removed to come back', () => {
    const values = possible();
    values.set('colour', undefined, 'configuration.empty-removes');
    expect(values.misfit({ colour: 'red' })?.because).toBe('configuration.empty-removes');
  });

  it('are two where the contract is silent, and never a third', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.blur(['volume']);
    expect(values.misfit({ colour: 'red' })).toBeUndefined();
    expect(values.misfit({})).toBeUndefined();
    expect(values.misfit({ colour: 'green' })).toBeDefined();
    expect(values.has('colour')).toBe(false);
  });

  it('are one again once the target has chosen', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.blur();
    values.settle({});
    expect(values.misfit({ colour: 'red' })).toBeDefined();
  });

  it('are any after everything was forgotten', () => {
    const values = possible();
    values.set('colour', 'red', 'configuration.write');
    values.forget();
    expect(values.misfit({ colour: 'green', volume: '7' })).toBeUndefined();
  });

  it('say nothing of names that no step uses', () => {
    expect(possible().misfit({ preset: 'by the vendor' })).toBeUndefined();
  });
});
