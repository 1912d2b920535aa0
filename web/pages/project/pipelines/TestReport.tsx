/** The test report: suites, each with failed cases first. */
import type { Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Empty } from '../../../components/lists.tsx'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'
import './TestReport.css'

type Report = Records['TestReport']
type Suite = Report['test_suites'][number]
type Case = Suite['test_cases'][number]

/** Per suite; the full report has the rest. */
const MOST_CASES = 500

export function TestReport({ report }: { report: Report | null }) {
  if (!report || report.test_suites.length === 0)
    return (
      <Empty title={t.noTestReports}>
        <p>{rich(t.addArtifactsReportsJunitToJob, { code: (text) => <code>{text}</code> })}</p>
      </Empty>
    )
  return (
    <>
      <p class="ci-line">
        <strong>{t.testCount(report.total_count)}</strong> <span>{t.failedCount(report.failed_count)}</span>{' '}
        <span>{t.errorCount(report.error_count)}</span> <span>{t.skippedCount(report.skipped_count)}</span>{' '}
        <span>{report.total_time.toFixed(2)} s</span>
      </p>
      {report.test_suites.map((suite) => (
        <SuiteBox of={suite} key={suite.name} />
      ))}
    </>
  )
}

const isBroken = ({ status }: Case) => status === 'failed' || status === 'error'

function SuiteBox({ of: suite }: { of: Suite }) {
  const cases = [...suite.test_cases.filter(isBroken), ...suite.test_cases.filter((one) => !isBroken(one))]
  const shown = cases.slice(0, MOST_CASES)
  return (
    <details class="card ci-suite" open={suite.failed_count + suite.error_count > 0 || suite.suite_error !== null}>
      <summary>
        <strong>{suite.name}</strong>{' '}
        <span class="quiet">{t.testsFailed(suite.total_count, suite.failed_count + suite.error_count)}</span>
      </summary>
      {suite.suite_error && <p class="fault">{suite.suite_error}</p>}
      <ul>
        {shown.map((one, n) => (
          <CaseRow of={one} key={n} />
        ))}
      </ul>
      {suite.total_count > shown.length && <p class="quiet">{t.moreTestsNotShown(suite.total_count - shown.length)}</p>}
    </details>
  )
}

const LOOKS = {
  success: ['good', 'check', common.passed],
  failed: ['bad', 'cross', common.failed],
  error: ['bad', 'warning', t.error],
  skipped: ['idle', 'skipped', common.skipped],
} as const

function CaseRow({ of }: { of: Case }) {
  const [tone, icon, word] = LOOKS[of.status]
  return (
    <li>
      <span class="state" data-tone={tone} title={word}>
        <Icon name={icon} />
        <span class="spoken">{word}</span>
      </span>{' '}
      {of.name}{' '}
      <span class="quiet">
        {of.classname} {of.execution_time.toFixed(2)} s
      </span>
      {of.system_output && (
        <pre class="ci-bounded" tabIndex={0}>
          {of.system_output}
        </pre>
      )}
    </li>
  )
}
