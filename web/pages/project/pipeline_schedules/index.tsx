/** The pipeline schedules of a project. */
import type { Listed, Records } from '../../../api.ts'
import { CiTabs, RefLink, SubTabs } from '../../../components/CiParts.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text, type Act, type Me } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

type Schedule = Records['ListedPipelineSchedule']

interface Data {
  schedules: Listed<Schedule[]>
}

const scheduleOf = ({ params, form }: Act) => ({ id: params.id!, pipeline_schedule_id: text(form, 'schedule') })

const SCOPES = [
  ['', common.all],
  ['active', common.active],
  ['inactive', t.inactive],
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
  title: () => t.schedules,
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
        <h1>{t.schedules}</h1>
        {project.can.run && (
          <a class="button" data-kind="main" href={below(project, 'pipeline_schedules/new')}>
            <Icon name="plus" /> {t.newSchedule}
          </a>
        )}
      </div>
      <SubTabs
        label={common.status}
        tabs={SCOPES.map(([scope, name]) => ({
          text: name,
          href: withQuery(address, { scope: scope || null }),
          isCurrent: (query.get('scope') ?? '') === scope,
        }))}
      />
      {schedules.items.length > 0 ? (
        <Rows label={t.schedules}>
          {schedules.items.map((one) => (
            <ScheduleRow key={one.id} of={one} project={project} me={me} />
          ))}
        </Rows>
      ) : (
        <Empty title={t.noSchedules}>
          <p>{t.useScheduleToRunPipelines}</p>
        </Empty>
      )}
      <Pages of={schedules} />
    </>
  ),
})

function ScheduleRow({ of, project, me }: { of: Schedule; project: Project; me: Me | null }) {
  const isMine = me !== null && of.owner?.id === me.id
  const mayChange = project.can.run && (isMine || project.can.administerPipelines)
  const about = { fields: { schedule: of.id }, id: `schedule-${of.id}` }
  return (
    <Row
      lead={<Icon name="clock" />}
      title={
        <>
          {of.description} {!of.active && <span class="badge">{common.inactive}</span>}
        </>
      }
      facts={
        <>
          <code>{of.cron}</code> {of.cron_timezone} <RefLink project={project} name={of.ref} />
          {of.active && of.next_run_at && <> {rich(t.nextRunTime, { time: <Time at={of.next_run_at} /> })}</>}
          {of.owner && t.bySuffix(of.owner.name)}
        </>
      }
      aside={
        project.can.run && (
          <div class="row">
            <ActButton action="play" label={t.runName(of.description)} {...about}>
              {' '}
              {t.run}{' '}
            </ActButton>
            {mayChange && (
              <a class="button" href={below(project, `pipeline_schedules/${of.id}/edit`)}>
                {common.edit}
              </a>
            )}
            {!isMine && project.can.administerPipelines && (
              <ActButton action="own" label={t.takeOwnershipDescription(of.description)} {...about}>
                {' '}
                {t.takeOwnership}{' '}
              </ActButton>
            )}
            {mayChange && (
              <ActButton
                action="remove"
                kind="danger"
                label={t.deleteName(of.description)}
                confirm={t.deleteNameQuestion(of.description)}
                {...about}
              >
                {common.deleteLabel}
              </ActButton>
            )}
          </div>
        )
      }
    />
  )
}
