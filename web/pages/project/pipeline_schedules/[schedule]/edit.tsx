import type { Records } from '../../../../api.ts'
import { CiTabs } from '../../../../components/CiParts.tsx'
import { projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare, type PageRequest } from '../../../../page.ts'
import { ScheduleForm, scheduleOf, writeVariables } from '../ScheduleForm.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/ci.ts'

interface Data {
  schedule: Records['PipelineSchedule']
}

const scheduleAt = ({ api, params }: PageRequest) =>
  api.get('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}', {
    id: params.id!,
    pipeline_schedule_id: params.schedule!,
  })

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({ schedule: scheduleAt(request) }),
  title: ({ schedule }) => schedule.description,
  actions: {
    async save(act) {
      const before = await scheduleAt(act)
      const pipeline_schedule_id = act.params.schedule!
      await act.api.put('/projects/{id}/pipeline_schedules/{pipeline_schedule_id}', {
        ...scheduleOf(act),
        pipeline_schedule_id,
      })
      await writeVariables(act, pipeline_schedule_id, before.variables ?? [])
      return `/${act.params.id!}/-/pipeline_schedules`
    },
  },
  View: ({ project, schedule }) => (
    <>
      <CiTabs project={project} at="pipeline_schedules" />
      <h1 class="ci-head">{t.editSchedule}</h1>
      <ScheduleForm project={project} schedule={schedule} action="save">
        {common.save}
      </ScheduleForm>
    </>
  ),
})
