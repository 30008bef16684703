/** Defects that show only in long strings, in many things at once, or after many days. */
import { membersOf } from '../../target/json-members.ts';
import { isSuccess, listOf, objectOf, ownResponse, withJson } from '../alter.ts';
import {
  bodyBecomes,
  fieldBecomes,
  requestBecomes,
  responseBecomes,
  sentFieldBecomes,
} from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

const keepsValidValues = ['service.legal-values-are-kept'] as const;
const DAY_MS = 86_400_000;

/** Cuts strings after that many characters, as a column of a database does. */
function cutAfter(length: number) {
  return (value: unknown): unknown =>
    typeof value === 'string' && value.length > length ? value.slice(0, length) : value;
}

/** Drops what comes after the first entries of an array. */
function firstOf(count: number) {
  return (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, count) : value);
}

/** Answers as the state had lapsed, a day after the first request with the same key. */
function lapses(
  keyOf: (request: ProxiedRequest) => string,
  become: (response: ProxiedResponse) => ProxiedResponse,
): () => Alteration {
  return () => {
    const firstMs = new Map<string, number>();
    return {
      response: (response, request) => {
        const key = keyOf(request);
        const nowMs = Date.parse(response.headers.date ?? '');
        const since = firstMs.get(key) ?? nowMs;
        firstMs.set(key, since);
        return nowMs - since > DAY_MS ? become(response) : response;
      },
    };
  };
}

const ofIdentity = (request: ProxiedRequest): string =>
  String(objectOf(request).id_data ?? JSON.stringify(objectOf(request).identity_data));
const ofDeployment = ({ parameters }: ProxiedRequest): string => parameters.id ?? '';

export const quantityDefects: readonly Defect[] = [
  {
    id: 'attribute-is-cut-at-255',
    title: 'The value of an attribute is cut after 255 characters.',
    violates: [...keepsValidValues, 'inventory.put-assigns', 'inventory.string'],
    operations: ['put-attributes'],
    alter: sentFieldBecomes('*.value', cutAfter(255)),
  },
  {
    id: 'setting-is-cut-at-1024',
    title: 'A configured value is cut after 1024 characters.',
    violates: keepsValidValues,
    operations: ['put-configuration'],
    alter: sentFieldBecomes('probe', cutAfter(1024)),
  },
  {
    id: 'alert-line-is-cut-at-128',
    title: 'The matching line of an alert is cut after 128 characters.',
    violates: keepsValidValues,
    operations: ['list-alerts'],
    alter: fieldBecomes('*.subject.details.line_matching.data', cutAfter(128)),
  },
  {
    id: 'monitor-name-is-cut-at-4096',
    title: 'The name of a monitor is cut after 4096 characters.',
    violates: keepsValidValues,
    operations: ['post-monitor-configuration'],
    alter: sentFieldBecomes('*.name', cutAfter(4096)),
  },
  {
    id: 'substate-is-cut-at-128',
    title: 'A substate is cut after 128 characters.',
    violates: keepsValidValues,
    operations: ['put-deployment-status'],
    alter: sentFieldBecomes('substate', cutAfter(128)),
  },
  {
    id: 'log-message-is-cut-at-1024',
    title: 'A message of a log is cut after 1024 characters.',
    violates: keepsValidValues,
    operations: ['put-deployment-log'],
    alter: sentFieldBecomes('messages.*.message', cutAfter(1024)),
  },
  {
    id: 'ten-alerts-of-a-request',
    title: 'Of one request only ten alerts are kept.',
    violates: ['alerts.are-shown'],
    operations: ['post-alerts'],
    alter: requestBecomes((request) => {
      const all = listOf(request);
      return all.length > 10 ? withJson(request, all.slice(0, 10)) : request;
    }),
  },
  {
    id: 'repeated-alert-is-dropped',
    title: 'An alert is not kept if the device sent an equal one, but for its time, just before.',
    violates: ['alerts.are-shown'],
    operations: ['post-alerts'],
    alter: () => {
      const lastTexts = new Map<string, string>();
      return {
        request: (request) => {
          const [alert] = listOf(request);
          const { timestamp, ...others } = membersOf(alert);
          const device = request.headers.authorization ?? '';
          const text = JSON.stringify(others);
          const isWhole = /^2026-01-31T12:00:0\d(\.\d+)?Z$/.test(String(timestamp));
          const isRepeated =
            isWhole && lastTexts.get(device) === text && listOf(request).length === 1;
          lastTexts.set(device, text);
          return isRepeated ? ownResponse(204) : request;
        },
      };
    },
  },
  {
    id: 'ten-lines-of-an-alert',
    title: 'Of the lines before and after the matching one ten are kept.',
    violates: ['service.legal-values-are-kept', 'alerts.are-shown'],
    operations: ['list-alerts'],
    alter: fieldBecomes('*.subject.details.lines_before', firstOf(10)),
  },
  {
    id: 'future-alert-is-dropped',
    title: 'An alert with a time in the future is not kept.',
    violates: ['alerts.are-shown', 'service.legal-values-are-kept'],
    operations: ['list-alerts'],
    alter: bodyBecomes((all) =>
      Array.isArray(all)
        ? all.filter((alert) => !String(membersOf(alert).timestamp).startsWith('2099'))
        : all,
    ),
  },
  {
    id: 'monitors-of-one-name-are-one',
    title: 'Of monitors that differ in their status alone, the last one is kept.',
    violates: ['monitor.is-stored', 'service.legal-values-are-kept'],
    operations: ['post-monitor-configuration'],
    alter: requestBecomes((request) => {
      const keyOf = (each: unknown) => JSON.stringify([membersOf(each).name, membersOf(each).type]);
      const all = listOf(request);
      const lastByKey = [...new Map(all.map((each) => [keyOf(each), each])).values()];
      return lastByKey.length < all.length ? withJson(request, lastByKey) : request;
    }),
  },
  {
    id: 'attribute-named-group-is-left-out',
    title: 'An attribute whose name is that of a member of the device is left out.',
    violates: ['inventory.patch-adds'],
    operations: ['get-inventory'],
    alter: fieldBecomes('attributes', (all) =>
      Array.isArray(all)
        ? all.filter(({ name, scope }) => scope !== 'inventory' || name !== 'group')
        : all,
    ),
  },
  {
    id: 'empty-map-states-become-an-array',
    title: 'The states of a control map without any are an array.',
    violates: ['map.is-the-assigned-one'],
    operations: ['get-update-control-map'],
    alter: fieldBecomes('update_control_map.states', (states) =>
      JSON.stringify(states) === '{}' ? [] : states,
    ),
  },
  {
    id: 'preflight-of-patch-is-refused',
    title: 'A preflight request for PATCH is refused.',
    violates: ['service.options-for-browsers'],
    operations: 'all',
    alter: responseBecomes((response, { method, headers }) =>
      method === 'OPTIONS' && headers['access-control-request-method'] === 'PATCH'
        ? ownResponse(405, { error: 'method not allowed', request_id: 'defect' })
        : response,
    ),
  },
  {
    id: 'resumed-part-states-its-own-length',
    title:
      'The Content-Range of a resumed download has the length of the rest as that of the file.',
    violates: ['link.content-range'],
    operations: ['download-artifact'],
    alter: responseBecomes((response, { headers }) => {
      const [, firstPosition, lastPosition] =
        /^bytes (\d+)-(\d+)/.exec(response.headers['content-range'] ?? '') ?? [];
      if (!/^bytes=[1-9]\d*-$/.test(headers.range ?? '') || firstPosition === undefined)
        return response;
      const stated = `bytes ${firstPosition}-${lastPosition}/${Number(lastPosition) - Number(firstPosition) + 1}`;
      return { ...response, headers: { ...response.headers, 'content-range': stated } };
    }),
  },
  {
    id: 'granted-request-stays-granted',
    title:
      'A request that was granted a token, byte for byte, is granted it after a rejection too.',
    violates: ['auth.rejected-is-refused'],
    operations: ['post-auth-request'],
    alter: () => {
      const grantsByRequest = new Map<string, ProxiedResponse>();
      return {
        response: (response, { headers, body }) => {
          const key = JSON.stringify([headers, body.toString()]);
          if (response.status === 200) grantsByRequest.set(key, response);
          return response.status === 401 || response.status === 403
            ? (grantsByRequest.get(key) ?? response)
            : response;
        },
      };
    },
  },
  {
    id: 'missing-artifact-name-is-the-former-one',
    title: 'A poll without artifact_name is answered as the former poll of the device.',
    violates: [
      'next.get-artifact-name',
      'next.post-artifact-name',
      'next.v2-provides-artifact-name',
    ],
    operations: ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'],
    alter: () => {
      const former = new Map<string, ProxiedResponse>();
      return {
        response: (response, { headers, body, query }) => {
          const device = headers.authorization ?? '';
          if (isSuccess(response)) former.set(device, response);
          const isMissing = !`${body}${query}`.includes('artifact_name');
          return response.status === 400 && isMissing && `${body}${query}`.includes('device_type')
            ? (former.get(device) ?? response)
            : response;
        },
      };
    },
  },
  {
    id: 'artifact-id-in-v2',
    title: 'Version 2 has an artifact ID too.',
    violates: ['next.artifact-id-in-v2'],
    operations: ['post-next-deployment-v2'],
    alter: fieldBecomes('artifact', (artifact) =>
      Object.assign({ id: '11111111-2222-4333-8444-555555555555' }, artifact),
    ),
  },
  {
    id: 'rejection-lapses',
    title: 'A device that was rejected is accepted after a day.',
    violates: ['auth.rejected-is-refused'],
    operations: ['post-auth-request'],
    alter: lapses(ofIdentity, (response) =>
      response.status === 401 ? ownResponse(200, 'a.b.c') : response,
    ),
  },
  {
    id: 'abort-lapses',
    title: 'A report is accepted a day after the abort.',
    violates: ['status.aborted-is-409'],
    operations: ['abort-deployment', 'put-deployment-status'],
    alter: lapses(ofDeployment, (response) =>
      response.status === 409 ? ownResponse(204) : response,
    ),
  },
];
