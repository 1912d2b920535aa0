/** The test report: suites, each with failed cases first. */
import type { Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Empty } from '../../../components/lists.tsx'

type Report = Records['TestReport']
type Suite = Report['test_suites'][number]
type Case = Suite['test_cases'][number]

/** Per suite; the full report has the rest. */
const MOST_CASES = 500

export function TestReport({ report }: { report: Report | null }) {
  if (!report || report.test_suites.length === 0)
    return (
      <Empty title="No test reports">
        <p>
          Add <code>artifacts: reports: junit</code> to a job.
        </p>
      </Empty>
    )
  return (
    <>
      <p class="ci-line">
        <strong>{report.total_count} tests</strong> <span>{report.failed_count} failed</span>{' '}
        <span>{report.error_count} errors</span> <span>{report.skipped_count} skipped</span>{' '}
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
        <span class="quiet">
          {suite.total_count} tests, {suite.failed_count + suite.error_count} failed
        </span>
      </summary>
      {suite.suite_error && <p class="fault">{suite.suite_error}</p>}
      <ul>
        {shown.map((one, n) => (
          <CaseRow of={one} key={n} />
        ))}
      </ul>
      {suite.total_count > shown.length && (
        <p class="quiet">{suite.total_count - shown.length} more tests not shown.</p>
      )}
    </details>
  )
}

const LOOKS = {
  success: ['good', 'check', 'Passed'],
  failed: ['bad', 'cross', 'Failed'],
  error: ['bad', 'warning', 'Error'],
  skipped: ['idle', 'skipped', 'Skipped'],
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
