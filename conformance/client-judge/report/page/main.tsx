/** Renders the page from the data that is embedded in it. */
import '../../../../fixtures/page/theme.css';
import '../../../../fixtures/page/kit.css';
import '../../../../fixtures/page/kit-lists.css';
import '../../../../fixtures/page/report.css';
import './page.css';
import { render } from 'preact';
import { embeddedFacts } from '../../../../fixtures/page/report.tsx';
import type { ClientTestResult } from '../client-test-result.ts';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root) render(<App testResult={embeddedFacts<ClientTestResult>()} />, root);
