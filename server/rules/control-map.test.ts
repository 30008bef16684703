import { describe, expect, it } from 'vitest';
import { controlMapOf } from './control-map.ts';

describe('the control map for a device', () => {
  const id = '11111111-1111-4111-8111-111111111111';

  it("has the deployment's ID, whatever ID the user gave", () => {
    const controlMap = { id: '22222222-2222-4222-8222-222222222222', priority: 3 };
    expect(controlMapOf({ id, controlMap })).toEqual({ id, priority: 3 });
    expect(controlMapOf({ id, controlMap: {} })).toEqual({ id });
  });

  it('is absent when the deployment has none', () => {
    expect(controlMapOf({ id })).toBeUndefined();
  });
});
