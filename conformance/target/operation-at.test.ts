import { describe, expect, it } from 'vitest';
import { recognizeRequest } from './operation-at.ts';

const artifacts = '/api/devices/v1/deployments/artifacts';

describe('the operation of a request', () => {
  it('is found by a path whose letters are percent-encoded', () => {
    const { row } = recognizeRequest('GET', '/api/d%65vices/v1/%64eployments/%61rtifact%73');
    expect(row?.id).toBe('list-artifacts');
  });

  it.each([
    ['an encoded slash, which separates no segments', '%2F', 'get-artifact', '/'],
    ['an encoded percent sign, which is decoded once', '%2541', 'get-artifact', '%41'],
    ['an encoded letter', '%41', 'get-artifact', 'A'],
    ['an incomplete encoding', '%4', 'get-artifact', '%4'],
  ])('is found with %s, in a parameter', (_what, text, operation, id) => {
    const { row, parameters } = recognizeRequest('GET', `${artifacts}/${text}`);
    expect([row?.id, parameters.id]).toEqual([operation, id]);
  });

  it('is not found by a path whose slash is encoded', () => {
    expect(recognizeRequest('GET', artifacts.replace('/artifacts', '%2Fartifacts')).row).toBe(
      undefined,
    );
  });
});
