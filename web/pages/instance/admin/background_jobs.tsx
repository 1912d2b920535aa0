/** Background jobs; for failed ones the error, with buttons to retry or discard. */
import type { Api, Listed, Records } from '../../../api.ts'
import { ActButton } from '../../../components/Form.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { listPage } from '../../../fields.ts'
import { Chapter, Facts } from '../../../components/settings.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'
import './background_jobs.css'

const measure = (api: Api) => api.get('/sidekiq/compound_metrics', {})

interface Data {
  metrics: Awaited<ReturnType<typeof measure>>
  jobs: Listed<Records['DeadJob'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    metrics: measure(api),
    jobs: api.list('/background_jobs/dead', listPage(query)),
  }),
  title: () => common.backgroundJobs,
  View: ({ metrics, jobs }) => (
    <>
      <h1>{common.backgroundJobs}</h1>
      <Facts
        of={[
          [common.queued, metrics.jobs.enqueued],
          [t.queueLatency, `${metrics.queues.default.latency} s`],
          [common.running, metrics.jobs.busy],
          [common.failed, metrics.jobs.dead],
          [t.processed, metrics.jobs.processed],
          [t.failedAttempts, metrics.jobs.failed],
        ]}
      />
      <Chapter title={common.failed}>
        <p class="quiet">{t.jobsThatFailedOnEvery}</p>
        {jobs.items.length === 0 ? <Empty title={t.noFailedJobs} /> : <FailedJobs of={jobs.items} />}
        <Pages of={jobs} />
      </Chapter>
      <Chapter title={t.processes}>
        <Rows label={t.processes}>
          {metrics.processes.map((one) => (
            <Row
              key={`${one.hostname} ${one.pid}`}
              title={t.hostnameProcessPid(one.hostname, one.pid)}
              facts={rich(t.busyOfConcurrencyWorkersBusy, {
                busy: one.busy,
                concurrency: one.concurrency,
                time: <Time at={one.started_at} />,
              })}
            />
          ))}
        </Rows>
      </Chapter>
    </>
  ),
  actions: {
    async retry({ api, form }) {
      await api.post('/background_jobs/dead/{job_id}/retry', { job_id: text(form, 'job') })
    },
    async discard({ api, form }) {
      await api.delete('/background_jobs/dead/{job_id}', { job_id: text(form, 'job') })
    },
  },
})

function FailedJobs({ of }: { of: readonly Records['DeadJob'][] }) {
  return (
    <Rows label={t.failedJobs}>
      {of.map((job) => (
        <Row
          key={job.id}
          title={<code>{job.name}</code>}
          facts={
            <>
              {rich(t.attemptsAttemptsCreatedTimePayload, {
                attempts: job.attempts,
                time: <Time at={job.created_at} />,
                payload: <code>{job.payload.slice(0, 200)}</code>,
              })}
              {job.error && <pre class="dead-job-error">{job.error.slice(0, 2000)}</pre>}
            </>
          }
          aside={
            <>
              <ActButton action="retry" fields={{ job: job.id }} label={t.retryJob(job.id)}>
                {' '}
                {common.retry}{' '}
              </ActButton>
              <ActButton
                action="discard"
                fields={{ job: job.id }}
                kind="danger"
                label={t.deleteJob(job.id)}
                confirm={t.deleteThisJobWork}
              >
                {' '}
                {common.deleteLabel}{' '}
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  )
}
