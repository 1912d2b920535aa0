import { CiTabs } from '../../../components/CiParts.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { ScheduleForm, scheduleOf, writeVariables } from './ScheduleForm.tsx'
import * as t from '../../../texts/ci.ts'

export const page = declare<object, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: () => ({}),
  title: () => t.newSchedule,
  actions: {
    async create(act) {
      const made = await act.api.post('/projects/{id}/pipeline_schedules', scheduleOf(act))
      await writeVariables(act, made.id, [])
      return `/${act.params.id!}/-/pipeline_schedules`
    },
  },
  View: ({ project }) => (
    <>
      <CiTabs project={project} at="pipeline_schedules" />
      <h1 class="ci-head">{t.newSchedule}</h1>
      <ScheduleForm project={project} action="create">
        {t.createSchedule}
      </ScheduleForm>
    </>
  ),
})
