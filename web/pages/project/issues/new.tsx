/** A new issue. */
import { Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { TemplateLinks, loadTemplates, type TextTemplates } from '../../../components/Templates.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { PlanFields, planOf, type Choices } from './Fields.tsx'
import { choicesFor } from './choices.ts'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

export const page = declare<Choices & { templates: TextTemplates }, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({ ...choicesFor(request), templates: loadTemplates(request, request.params.id!, 'issues') }),
  title: () => t.newIssue,
  actions: {
    async create({ api, params, form }) {
      const { labels, assignee_ids, milestone_id, due_date, weight, confidential } = planOf(form)
      const made = await api.post('/projects/{id}/issues', {
        id: params.id!,
        title: text(form, 'title'),
        description: text(form, 'description'),
        confidential,
        ...(labels.length > 0 && { labels }),
        ...(assignee_ids.length > 0 && { assignee_ids }),
        ...(milestone_id !== null && { milestone_id }),
        ...(due_date !== null && { due_date }),
        ...(weight !== null && { weight }),
      })
      return pathOf(made.web_url)
    },
  },
  View: ({ project, query, labels, milestones, people, templates }) => (
    <>
      <h1>{t.newIssue}</h1>
      <TemplateLinks of={templates} />
      <Form action="create">
        <div class="columns">
          <div>
            <Field name="title" label={common.title} required value={query.get('issue[title]') ?? query.get('title')} />
            <WritingArea
              name="description"
              label={common.description}
              lines={12}
              value={query.get('issue[description]') ?? templates.text}
              hasCommands
            />
            <Switch name="confidential" label={t.confidential} hint={t.visibleOnlyToProjectMembers} />
            <Button kind="main">{t.createIssue}</Button>
          </div>
          <div class="side">
            {project.can.plan ? (
              <PlanFields labels={labels} milestones={milestones} people={people} />
            ) : (
              <p class="quiet">{t.projectMembersWithReporterAccess}</p>
            )}
          </div>
        </div>
      </Form>
    </>
  ),
})
