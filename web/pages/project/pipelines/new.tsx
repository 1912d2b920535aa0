/** Runs a pipeline manually, for a branch or a tag, with variables. */
import { variablesOf } from '../../../ci-actions.ts'
import { CiTabs } from '../../../components/CiParts.tsx'
import { Button, Field, Form } from '../../../components/Form.tsx'
import { VariableRows } from '../../../components/VariableRows.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

export const page = declare<object, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: () => ({}),
  title: () => common.runPipeline,
  actions: {
    async run(act) {
      const made = await act.api.post('/projects/{id}/pipeline', {
        id: act.params.id!,
        ref: text(act.form, 'ref'),
        variables: variablesOf(act),
      })
      return pathOf(made.web_url)
    },
  },
  View: ({ project, query }) => (
    <>
      <CiTabs project={project} at="pipelines" />
      <h1 class="ci-head">{common.runPipeline}</h1>
      <Form action="run" class="ci-narrow">
        <Field
          name="ref"
          label={t.branchOrTag}
          value={query.get('ref') ?? project.default_branch}
          required
          hint={t.thePipelineUsesCiConfiguration}
        />
        <VariableRows />
        <div class="row">
          <Button kind="main">{common.runPipeline}</Button>
          <a href={below(project, 'pipelines')}>{common.cancel}</a>
        </div>
      </Form>
    </>
  ),
})
