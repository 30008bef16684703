/**
 * Cases: conditions on the link to an artifact file.
 * Spec: Device deployments v1; RFC 9110, section 13
 */
import { expectPart, expectWhole, linkedSample } from '../../context/followed-link.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  expectEqual,
  expectNoBody,
  expectStatus,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';

/** A time before any file was uploaded. */
const earlyDate = 'Thu, 01 Jan 2015 00:00:00 GMT';
const malformedDates = ['yesterday', '2026-01-31T12:00:00Z', '0'];
const SECOND_MS = 1000;
/** How long before the last change a date is that is before it nevertheless. */
const beforeMs = [SECOND_MS, 60 * SECOND_MS, 3600 * SECOND_MS];
const range = 'bytes=1000-1999';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/**
 * The older formats of an HTTP date, which a recipient accepts too. Spec: RFC 9110, section 5.6.7
 */
const olderFormats: Readonly<Record<string, (date: Date) => string>> = {
  'RFC 850': (date) => {
    const [, day = '', month, year = '', time] = date.toUTCString().split(' ');
    return `${days[date.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
  },
  asctime: (date) => {
    const [week = '', day = '', month, year, time] = date.toUTCString().split(' ');
    return `${week.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
  },
};

async function datedLink(context: TestContext) {
  const file = await linkedSample(context, 'plain');
  const lastModified = file.download.headers['last-modified'];
  // Without the header, any time from the response onwards is after the last change.
  const changeTime = lastModified ?? new Date(context.serverNowMs(file.download)).toUTCString();
  const laterDate = new Date(Date.parse(changeTime) + SECOND_MS).toUTCString();
  const datesBefore = beforeMs.map((ms) => new Date(Date.parse(changeTime) - ms).toUTCString());
  // Without the header, only a time before any upload is surely before the last change.
  const earlierDates = lastModified ? datesBefore : [earlyDate];
  return { file, follow: file.follow, lastModified, changeTime, laterDate, earlierDates };
}

const conditions = defineScenario({
  area: 'artifact-link',
  name: 'Conditions',
  start: 'a link from which the file was downloaded, and the time of its last change',
  effect: 'write',
  needs: ['user'],
  arrange: datedLink,
  cases: [
    {
      id: 'last-modified-is-sent',
      title: 'The link sends the time of the last change in Last-Modified, as an HTTP date.',
      requirements: ['link.last-modified'],
      run: async ({ lastModified = 'none' }) => {
        const isDate = lastModified === new Date(lastModified).toUTCString();
        expectThat(isDate, 'an HTTP date as Last-Modified', lastModified);
      },
    },
    {
      id: 'if-modified-since-is-304',
      title: 'If-Modified-Since at the last change is answered with 304 without the file.',
      requirements: ['link.if-modified-since'],
      run: async ({ follow, changeTime }) => {
        const response = await follow({ 'if-modified-since': changeTime });
        expectStatus(response, 304);
        expectNoBody(response);
      },
    },
    {
      id: 'later-modified-since-is-304',
      title: 'If-Modified-Since later than the last change is answered with 304, also with Range.',
      requirements: ['link.later-modified-since'],
      run: async ({ follow, laterDate }) => {
        expectStatus(await follow({ 'if-modified-since': laterDate }), 304);
        expectStatus(await follow({ 'if-modified-since': laterDate, range }), 304);
      },
    },
    {
      id: 'modified-since-is-the-file',
      title:
        'If-Modified-Since a second, or more, before the last change is answered with the file.',
      requirements: ['link.modified-since'],
      run: async ({ file, follow, earlierDates }) => {
        for (const date of earlierDates)
          expectWhole(file, await follow({ 'if-modified-since': date }));
      },
    },
    {
      id: 'malformed-modified-since-is-ignored',
      title: 'If-Modified-Since that is not an HTTP date is answered with the file.',
      requirements: ['link.malformed-modified-since'],
      run: async ({ file, follow }) => {
        for (const date of malformedDates) {
          expectWhole(file, await follow({ 'if-modified-since': date }));
        }
      },
    },
    {
      id: 'if-unmodified-since-is-412',
      title:
        'If-Unmodified-Since a second, or more, before the last change is answered with 412, as in 2015.',
      requirements: ['link.if-unmodified-since'],
      run: async ({ follow, earlierDates }) => {
        for (const date of [earlyDate, ...earlierDates]) {
          expectStatus(await follow({ 'if-unmodified-since': date }), 412);
        }
      },
    },
    {
      id: 'unmodified-since-is-the-file',
      title: 'If-Unmodified-Since at the last change is answered with the file.',
      requirements: ['link.unmodified-since'],
      run: async ({ file, follow, changeTime }) =>
        expectWhole(file, await follow({ 'if-unmodified-since': changeTime })),
    },
    {
      id: 'later-unmodified-since-is-the-file',
      title:
        'If-Unmodified-Since later than the last change is answered with the file, or the range.',
      requirements: ['link.unmodified-since'],
      run: async ({ file, follow, laterDate }) => {
        expectWhole(file, await follow({ 'if-unmodified-since': laterDate }));
        expectPart(file, await follow({ 'if-unmodified-since': laterDate, range }), [1000, 2000]);
      },
    },
    {
      id: 'malformed-unmodified-since-is-ignored',
      title: 'If-Unmodified-Since that is not an HTTP date is answered with the file.',
      requirements: ['link.malformed-unmodified-since'],
      run: async ({ file, follow }) => {
        for (const date of malformedDates) {
          expectWhole(file, await follow({ 'if-unmodified-since': date }));
        }
      },
    },
    {
      id: 'range-of-the-changed-file',
      title:
        'If-Modified-Since before the last change, with Range, is answered with 206 and that part.',
      requirements: ['link.conditional-range'],
      run: async ({ file, follow, earlierDates: [earlierDate = earlyDate] }) => {
        for (const date of [earlyDate, earlierDate]) {
          expectPart(file, await follow({ 'if-modified-since': date, range }), [1000, 2000]);
        }
      },
    },
    {
      id: 'resumption-of-the-unchanged-file',
      title: 'A device resumes only an unchanged file: 206 while it is unchanged, 412 afterwards.',
      requirements: ['link.conditional-range'],
      run: async ({ file, follow, changeTime, earlierDates: [earlierDate = earlyDate] }) => {
        const partialResponse = await follow({ range, 'if-unmodified-since': changeTime });
        expectPart(file, partialResponse, [1000, 2000]);
        expectStatus(await follow({ range, 'if-unmodified-since': earlierDate }), 412);
      },
    },
    {
      id: 'older-forms-of-dates',
      title:
        'A date in each of the two older forms of HTTP is compared as one in the present form.',
      requirements: ['link.older-dates'],
      run: async ({ follow, changeTime, earlierDates: [earlierDate = earlyDate] }) => {
        for (const name of ['if-modified-since', 'if-unmodified-since']) {
          for (const date of [changeTime, earlierDate]) {
            const { status } = await follow({ [name]: date });
            for (const [format, formatDate] of Object.entries(olderFormats)) {
              const older = await follow({ [name]: formatDate(new Date(date)) });
              expectEqual(`status for ${name} of ${format}`, older.status, status);
            }
          }
        }
      },
    },
    {
      id: 'if-range',
      title: 'How If-Range with the time of the last change, and with an earlier one, is answered.',
      requirements: ['link.if-range'],
      observe: async ({ follow, changeTime }) => {
        const matchingResponse = await follow({ range, 'if-range': changeTime });
        const staleResponse = await follow({ range, 'if-range': earlyDate });
        return observationOf(
          `unchanged ${matchingResponse.status}, changed ${staleResponse.status}`,
        );
      },
    },
  ],
});

/** Spec: Device deployments v1, "If-Modified-Since, If-Unmodified-Since" */
export const artifactLinkConditionCases = conditions;
