/** The frame of the page: the bar, the navigation, and the section at the address. */
import { Suspense } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { Link, Route, Router, Switch, useLocation } from 'wouter-preact';
import { Empty, Loading } from '../../../fixtures/page/states.tsx';
import { useAddress } from './address.ts';
import { token } from './api/session.ts';
import { Bar } from './bar.tsx';
import { Confirmations } from './confirm.tsx';
import { LoginForm } from './login-form.tsx';
import { Notices } from './parts/action.tsx';
import { findSection, groups, sections } from './sections.tsx';

export function App() {
  return (
    <Router hook={useAddress}>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to the content
      </button>
      <Bar />
      {token.value === '' ? <LoginForm /> : <Sections />}
      <Notices />
      <Confirmations />
    </Router>
  );
}

/**
 * Moves the focus to the content. A link with `#main` would change the address, because the page
 * keeps its location in the fragment.
 */
function skipToMain(): void {
  document.getElementById('main')?.focus();
}

/**
 * Scrolls the navigation to the current item. On a narrow page the navigation is one line that
 * scrolls sideways.
 */
function showCurrent(navigation: HTMLElement): void {
  const item = navigation.querySelector<HTMLElement>('[aria-current="page"]');
  if (!item) return;
  const { left, width } = item.getBoundingClientRect();
  const frame = navigation.getBoundingClientRect();
  navigation.scrollLeft += left + width / 2 - (frame.left + frame.width / 2);
}

function Sections() {
  const [path] = useLocation();
  const section = findSection(path);
  const title = section?.title ?? 'Not found';
  useEffect(() => {
    document.title = `${title} · Fleetbed console`;
  }, [title]);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    if (navigation.current) showCurrent(navigation.current);
  }, [section]);
  return (
    <div class="frame">
      <nav ref={navigation} class="sections" aria-label="Sections">
        {groups.map((group) => (
          <div key={group} class="section-group">
            <h2>{group}</h2>
            <ul>
              {sections
                .filter((each) => each.group === group)
                .map((each) => (
                  <li key={each.href}>
                    <Link href={each.href} aria-current={each === section ? 'page' : undefined}>
                      {each.title}
                    </Link>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<Loading subject="the section" />}>
          <Switch>
            {sections.flatMap(({ routes }) =>
              Object.entries(routes).map(([pattern, View]) => (
                <Route key={pattern} path={pattern}>
                  <View />
                </Route>
              )),
            )}
            <Route>
              <Empty title="This page does not exist">
                <Link href="/">Go to the overview</Link>
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </main>
    </div>
  );
}
