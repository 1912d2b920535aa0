/** Background jobs; for failed ones the error, with buttons to retry or discard. */
import type { Api, Listed, Records } from '../../../api.ts'
import { ActButton } from '../../../components/Form.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { listPage } from '../../../fields.ts'
import { Chapter, Facts } from '../../../components/settings.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'

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
  title: () => 'Background jobs',
  View: ({ metrics, jobs }) => (
    <>
      <h1>Background jobs</h1>
      <Facts
        of={[
          ['Queued', metrics.jobs.enqueued],
          ['Queue latency', `${metrics.queues.default.latency} s`],
          ['Running', metrics.jobs.busy],
          ['Failed', metrics.jobs.dead],
          ['Processed', metrics.jobs.processed],
          ['Failed attempts', metrics.jobs.failed],
        ]}
      />
      <Chapter title="Failed">
        <p class="quiet">Jobs that failed on every attempt. Retry a job after fixing the cause.</p>
        {jobs.items.length === 0 ? <Empty title="No failed jobs" /> : <FailedJobs of={jobs.items} />}
        <Pages of={jobs} />
      </Chapter>
      <Chapter title="Processes">
        <Rows label="Processes">
          {metrics.processes.map((one) => (
            <Row
              key={`${one.hostname} ${one.pid}`}
              title={`${one.hostname}, process ${one.pid}`}
              facts={
                <>
                  {one.busy} of {one.concurrency} workers busy · up since <Time at={one.started_at} />
                </>
              }
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
    <Rows label="Failed jobs">
      {of.map((job) => (
        <Row
          key={job.id}
          title={<code>{job.name}</code>}
          facts={
            <>
              {job.attempts} attempts, created <Time at={job.created_at} /> · <code>{job.payload.slice(0, 200)}</code>
              {job.error && <pre class="dead-job-error">{job.error.slice(0, 2000)}</pre>}
            </>
          }
          aside={
            <>
              <ActButton action="retry" fields={{ job: job.id }} label={`Retry job ${job.id}`}>
                {' '}
                Retry{' '}
              </ActButton>
              <ActButton
                action="discard"
                fields={{ job: job.id }}
                kind="danger"
                label={`Delete job ${job.id}`}
                confirm="Delete this job? The work is not done."
              >
                {' '}
                Delete{' '}
              </ActButton>
            </>
          }
        />
      ))}
    </Rows>
  )
}
