/** The pipeline schedules of a project. */
import type { Listed, Records } from '../../../api.ts'
import { CiTabs, RefLink, mayRun, mayAdminister, SubTabs } from '../../../components/CiParts.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text, type Act, type Me } from '../../../page.ts'
import { withQuery } from '../../../query.ts'

type Schedule = Records['ListedPipelineSchedule']

interface Data {
  schedules: Listed<Schedule[]>
}

const scheduleOf = ({ params, form }: Act) => ({ id: params.id!, pipeline_schedule_id: text(form, 'schedule') })

const SCOPES = [
  ['', 'All'],
  ['active', 'Active'],
  ['inactive', 'Inactive'],
] as const

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const scope = (['active', 'inactive'] as const).find((one) => one === query.get('scope'))
    return {
      schedules: api.list('/projects/{id}/pipeline_schedules', {
        id: params.id!,
        scope,
        page: Number(query.get('page')) || 1,
        per_page: 20,
      }),
    }
  },
  title: () => 'Schedules',
  actions: {
    async play(act) {
      await act.api.post('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/play', scheduleOf(act))
      return `/${act.params.id!}/-/pipelines`
    },
    async own(act) {
      await act.api.post('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/take_ownership', scheduleOf(act))
    },
    async remove(act) {
      await act.api.delete('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}', scheduleOf(act))
    },
  },
  View: ({ project, schedules, query, address, me }) => (
    <>
      <CiTabs project={project} at="pipeline_schedules" />
      <div class="head ci-head">
        <h1>Schedules</h1>
        {mayRun(project) && (
          <a class="button" data-kind="main" href={below(project, 'pipeline_schedules/new')}>
            <Icon name="plus" /> New schedule
          </a>
        )}
      </div>
      <SubTabs
        label="Status"
        tabs={SCOPES.map(([scope, name]) => ({
          text: name,
          href: withQuery(address, { scope: scope || null }),
          isCurrent: (query.get('scope') ?? '') === scope,
        }))}
      />
      {schedules.items.length > 0 ? (
        <Rows label="Schedules">
          {schedules.items.map((one) => (
            <ScheduleRow key={one.id} of={one} project={project} me={me} />
          ))}
        </Rows>
      ) : (
        <Empty title="No schedules">
          <p>Use a schedule to run pipelines at regular intervals, for example every night.</p>
        </Empty>
      )}
      <Pages of={schedules} />
    </>
  ),
})

function ScheduleRow({ of, project, me }: { of: Schedule; project: Project; me: Me | null }) {
  const isMine = me !== null && of.owner?.id === me.id
  const mayChange = mayRun(project) && (isMine || mayAdminister(project))
  const about = { fields: { schedule: of.id }, id: `schedule-${of.id}` }
  return (
    <Row
      lead={<Icon name="clock" />}
      title={
        <>
          {of.description} {!of.active && <span class="badge">inactive</span>}
        </>
      }
      facts={
        <>
          <code>{of.cron}</code> {of.cron_timezone} <RefLink project={project} name={of.ref} />
          {of.active && of.next_run_at && (
            <>
              {' '}
              next run <Time at={of.next_run_at} />
            </>
          )}
          {of.owner && ` by ${of.owner.name}`}
        </>
      }
      aside={
        mayRun(project) && (
          <div class="row">
            <ActButton action="play" label={`Run ${of.description}`} {...about}>
              {' '}
              Run{' '}
            </ActButton>
            {mayChange && (
              <a class="button" href={below(project, `pipeline_schedules/${of.id}/edit`)}>
                Edit
              </a>
            )}
            {!isMine && (
              <ActButton action="own" label={`Take ownership: ${of.description}`} {...about}>
                {' '}
                Take ownership{' '}
              </ActButton>
            )}
            {mayChange && (
              <ActButton
                action="remove"
                kind="danger"
                label={`Delete ${of.description}`}
                confirm={`Delete ${of.description}?`}
                {...about}
              >
                Delete
              </ActButton>
            )}
          </div>
        )
      }
    />
  )
}
