/** The result of a CI lint: whether the file is valid, its jobs, and the merged configuration. */
import type { Records } from '../../../api.ts'
import { State } from '../../../components/State.tsx'
import * as t from '../../../texts/ci.ts'
import './LintResult.css'

type Linted = Pick<Records['Lint'], 'valid' | 'errors' | 'warnings' | 'merged_yaml' | 'jobs'>

export function LintResult({ of }: { of: Linted }) {
  return (
    <section class="lint" aria-label={t.validationResult} aria-live="polite">
      <h2>{of.valid ? t.configurationIsValid : t.configurationIsInvalid}</h2>
      <p>
        <State of={of.valid ? 'success' : 'failed'} isShort />{' '}
        {of.valid ? t.jobsInPipeline(of.jobs?.length ?? 0) : t.errorsFound(of.errors.length)}
      </p>
      {of.errors.map((error) => (
        <p class="fault" key={error}>
          {error}
        </p>
      ))}
      {of.warnings.map((warning) => (
        <p class="quiet" key={warning}>
          {t.warningText(warning)}
        </p>
      ))}
      {of.jobs && of.jobs.length > 0 && (
        <div class="ci-scroll" tabIndex={0} role="region" aria-label={t.jobs}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.stage}</th>
                <th scope="col">{t.job}</th>
                <th scope="col">{t.when}</th>
                <th scope="col">{t.needs}</th>
                <th scope="col">{t.script}</th>
              </tr>
            </thead>
            <tbody>
              {of.jobs.slice(0, 200).map((job) => (
                <tr key={job.name}>
                  <td>{job.stage}</td>
                  <td>{job.name}</td>
                  <td>{job.when.replaceAll('_', ' ')}</td>
                  <td>{job.needs?.map(({ name }) => name).join(', ')}</td>
                  <td>
                    <code>{job.script.join('\n').slice(0, 200)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {of.merged_yaml && (
        <details>
          <summary>{t.fullConfigurationWithAllIncludes}</summary>
          <pre class="ci-bounded" tabIndex={0}>
            {of.merged_yaml}
          </pre>
        </details>
      )}
    </section>
  )
}
