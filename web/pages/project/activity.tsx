/** Activity of a project. */
import type { Listed, Records } from '../../api.ts'
import { Activity, filterOf } from '../../components/Activity.tsx'
import { projectFrame, type InProject } from '../../layout/project.tsx'
import { page as declare } from '../../page.ts'
import * as common from '../../texts/common.ts'

interface Data {
  events: Listed<Records['Event'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    events: api.list('/projects/{id}/events', { id: params.id!, ...filterOf(query) }),
  }),
  title: () => common.activity,
  View: ({ project, events }) => (
    <>
      <h1>{common.activity}</h1>
      <Activity events={events} projectPaths={{ [project.id]: project.path_with_namespace }} />
    </>
  ),
})
