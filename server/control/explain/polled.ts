/** What a device said of itself when it asked for an update, read from the record of the request. */
import { operations } from '../../../fixtures/contract/operations.ts';
import type { ExchangeRecord } from '../../http/exchange-record.ts';
import type { NextRequest } from '../../rules/next-deployment.ts';
import { jsonObject } from '../journal/facts.ts';

/** The request as the rule was given it; nothing when not all of its body is kept. */
export function requestOf({ operation, url, body, bodyBytes }: ExchangeRecord) {
  if (operation === operations['get-next-deployment'].id) {
    const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
    const names = Object.keys(operations['get-next-deployment'].query);
    return withProvides(names.map((name) => [name, query.get(name) ?? '']));
  }
  if (!body || body.length !== bodyBytes) return undefined;
  const given = jsonObject(body);
  const isV2 = operation === operations['post-next-deployment-v2'].id;
  const provides = isV2 ? given.device_provides : given;
  if (typeof provides !== 'object' || provides === null) return undefined;
  const pairs = Object.entries(provides).map(([name, value]) => [name, String(value)] as const);
  return withProvides(pairs, isV2 && given.update_control_map === true);
}

function withProvides(
  pairs: readonly (readonly [string, string])[],
  takesControlMap = false,
): NextRequest {
  const provides = Object.fromEntries(pairs);
  const { device_type: deviceType = '', artifact_name: artifactName = '' } = provides;
  return { deviceType, artifactName, provides, takesControlMap };
}
