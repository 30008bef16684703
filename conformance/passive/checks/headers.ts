/** Passive checks of headers of responses. Spec: Audit logs; Versioning */
import { describeValue } from '../../target/expectations.ts';
import type { PassiveCheck } from '../check.ts';

/** The preferred format of an HTTP date. RFC 9110, section 5.6.7 */
export const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The headers of deprecation, with the format of each. RFC 9745, section 2.1; RFC 8594, section 3
 */
const formats: Readonly<Record<string, RegExp>> = {
  // Drafts before RFC 9745 used `true` or an HTTP date.
  deprecation: new RegExp(`^@-?\\d+$|^true$|${httpDate.source}`),
  sunset: httpDate,
};

export const headerChecks: readonly PassiveCheck[] = [
  {
    id: 'total-count',
    requirement: 'audit.total',
    applies: ({ operation, status }) => operation.id === 'list-audit-logs' && status === 200,
    violation: ({ response, status }) => {
      const total = response.headers['x-total-count'];
      if (/^\d+$/.test(total ?? '')) return undefined;
      return {
        part: `${status} X-Total-Count`,
        expected: 'be a count',
        actual: describeValue(total ?? 'none'),
      };
    },
  },
  {
    id: 'page-links',
    requirement: 'audit.links',
    applies: ({ operation, status }) => operation.id === 'list-audit-logs' && status === 200,
    violation: ({ response, status }) => {
      const link = response.headers.link ?? '';
      if (/rel\s*=\s*("[^"]*\bfirst\b[^"]*"|first\b)/i.test(link)) return undefined;
      const expected = 'have the relation first';
      return { part: `${status} Link`, expected, actual: describeValue(link || 'none') };
    },
  },
  {
    id: 'deprecation-headers',
    requirement: 'versioning.deprecation-headers',
    applies: ({ response }) =>
      Object.keys(formats).some((name) => response.headers[name] !== undefined),
    violation: ({ response, status }) => {
      for (const [name, format] of Object.entries(formats)) {
        const value = response.headers[name];
        if (value === undefined || format.test(value.trim())) continue;
        return {
          part: `${status} ${name}`,
          expected: 'be well-formed',
          actual: describeValue(value),
        };
      }
      return undefined;
    },
  },
];
