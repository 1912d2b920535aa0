/** A new milestone. */
import { Button, Form } from '../../../components/Form.tsx'
import { MilestoneFields, milestoneOf } from '../../../components/Milestones.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { pathOf } from '../../../refs.ts'
import * as t from '../../../texts/planning.ts'

export const page = declare<object, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: () => ({}),
  title: () => t.newMilestone,
  actions: {
    async create({ api, params, form }) {
      const made = await api.post('/projects/{id}/milestones', { id: params.id!, ...milestoneOf(form) })
      return pathOf(made.web_url)
    },
  },
  View: () => (
    <>
      <h1>{t.newMilestone}</h1>
      <Form action="create" class="narrow">
        <MilestoneFields />
        <Button kind="main">{t.createMilestone}</Button>
      </Form>
    </>
  ),
})
