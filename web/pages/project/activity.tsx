/** Activity of a project. */
import type { Listed, Records } from '../../api.ts'
import { Activity, filterOf } from '../../components/Activity.tsx'
import { projectFrame, type InProject } from '../../layout/project.tsx'
import { page as declare } from '../../page.ts'

interface Data {
  events: Listed<Records['Event'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    events: api.list('/projects/{id}/events', { id: params.id!, ...filterOf(query) }),
  }),
  title: () => 'Activity',
  View: ({ project, events }) => (
    <>
      <h1>Activity</h1>
      <Activity events={events} places={{ [project.id]: project.path_with_namespace }} />
    </>
  ),
})
