/** Controls the tenant's clock, and shows the calendar of deprecations. */
import { useState } from 'preact/hooks';
import { deprecatedApis, endOfLife } from '../../../../fixtures/contract/deprecations.ts';
import type { BodyInputOf, ResponseOf } from '../../../../fixtures/control/operations.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { request, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { ActionButton, attempt } from '../parts/action.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

type ClockView = ResponseOf<'GET /clock'>;

const DAY_MS = 86_400_000;
/**
 * The calendar covers half a year before and after the end of life of the deprecated operations.
 */
const HALF_RANGE_DAYS = 183;
const endMs = Date.parse(endOfLife);
const steps = [
  [3600, '1 hour'],
  [86_400, '1 day'],
  [7 * 86_400, '1 week'],
] as const;

export default function ClockSection() {
  const loaded = useLoaded(() => requestJson('GET /clock'), 'clock', { isLive: true });
  return (
    <>
      <h1>Clock and calendar</h1>
      <View subject="the clock" loaded={loaded}>
        {(clock) => <ClockControls clock={clock} reload={loaded.reload} />}
      </View>
    </>
  );
}

const changeClock = (body: BodyInputOf<'POST /clock'>) => request('POST /clock', { body });

function ClockControls({ clock, reload }: { clock: ClockView; reload: () => void }) {
  const thenReload = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work();
    reload();
  };
  return (
    <>
      <Card title="Time of the tenant">
        <p class="big">{dayAndTime(clock.now)} UTC</p>
        <p class="muted">
          Mode: {clock.mode}; pace {clock.rate}; {Math.round(clock.offsetSeconds)} s from the
          server's own clock.
        </p>
        <div class="actions">
          {steps.map(([advanceSeconds, duration]) => (
            <ActionButton
              key={duration}
              work={thenReload(() => changeClock({ advanceSeconds }))}
              done={`${duration} has passed.`}
            >
              + {duration}
            </ActionButton>
          ))}
          <ActionButton
            work={thenReload(() => changeClock({ rate: clock.rate === 0 ? 1 : 0 }))}
            done={clock.rate === 0 ? 'Time runs.' : 'Time is frozen.'}
          >
            {clock.rate === 0 ? 'Resume' : 'Stop time'}
          </ActionButton>
          <ActionButton
            work={thenReload(() => request('DELETE /clock'))}
            done="The clock was reset."
          >
            Reset
          </ActionButton>
        </div>
      </Card>
      <Calendar nowMs={Date.parse(clock.now)} reload={reload} />
    </>
  );
}

/** Returns the date of a day, counted from the end of life. */
const dayOf = (day: number): string => new Date(endMs + day * DAY_MS).toISOString().slice(0, 10);

function Calendar({ nowMs, reload }: { nowMs: number; reload: () => void }) {
  const [day, setDay] = useState<number | undefined>(undefined);
  const today = Math.floor((nowMs - endMs) / DAY_MS);
  const shownDay = day ?? Math.max(-HALF_RANGE_DAYS, Math.min(today, HALF_RANGE_DAYS));
  const isOutside = Math.abs(today) > HALF_RANGE_DAYS;
  const date = new Date(endMs + shownDay * DAY_MS).toISOString();
  const move = async (): Promise<void> => {
    await attempt(
      () => changeClock({ now: `${date.slice(0, 11)}00:00:00Z` }),
      `It is ${date.slice(0, 10)}.`,
    );
    setDay(undefined);
    reload();
  };
  const hasEnded = shownDay >= 0;
  return (
    <Card title="Deprecation calendar">
      <p class="muted">
        The slider covers half a year before and after {endOfLife}, the day on which the deprecated
        operations end. {isOutside && `Today is ${dayOf(today)}, which is outside of it. `}The
        buttons above reach any later day.
      </p>
      <label class="kit-field">
        Day: {date.slice(0, 10)}, from {dayOf(-HALF_RANGE_DAYS)} to {dayOf(HALF_RANGE_DAYS)}
        <input
          type="range"
          min={-HALF_RANGE_DAYS}
          max={HALF_RANGE_DAYS}
          value={shownDay}
          aria-valuetext={date.slice(0, 10)}
          onInput={(event) => setDay(Number(event.currentTarget.value))}
        />
      </label>
      <div class="actions">
        <button type="button" class="kit-button" disabled={day === undefined} onClick={move}>
          Go to this day
        </button>
        <Badge tone={hasEnded ? 'negative' : 'positive'}>
          {hasEnded
            ? `${deprecatedApis.length} operations have been removed`
            : `${-shownDay} days until ${deprecatedApis.length} operations are removed`}
        </Badge>
      </div>
      <Table
        caption={`No longer supported from ${endOfLife}`}
        rows={deprecatedApis}
        keyOf={({ method, version, path }) => `${method} ${version} ${path}`}
        columns={[
          {
            title: 'Operation',
            cell: ({ method, version, path }) => <code>{`${method} ${version} ${path}`}</code>,
          },
          { title: 'Deprecated since', cell: ({ deprecatedSince }) => deprecatedSince },
          { title: 'Replacement', cell: ({ replacement }) => replacement },
          {
            title: 'On this day',
            cell: () =>
              hasEnded ? (
                <Badge tone="negative">ended</Badge>
              ) : (
                <Badge tone="positive">works</Badge>
              ),
          },
        ]}
      />
    </Card>
  );
}
