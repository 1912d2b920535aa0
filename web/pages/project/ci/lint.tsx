/** Checks a CI configuration as if it belonged to this project. */
import type { Records } from '../../../api.ts'
import { useSurroundings } from '../../../surroundings.ts'
import { CiTabs } from '../../../components/CiParts.tsx'
import { Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { LintResult } from './LintResult.tsx'
import { flag } from '../../../fields.ts'
import { projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { LiveCheck } from './LiveCheck.tsx'
import * as t from '../../../texts/ci.ts'

export const page = declare<object, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: () => ({}),
  title: () => t.validateCiConfig,
  actions: {
    async check({ api, params, form }) {
      const content = text(form, 'content')
      const dry_run = flag(form, 'dry_run')
      const lint = await api.post('/projects/{id}/ci/lint', { id: params.id!, content, dry_run, include_jobs: true })
      return { flash: { content, lint: JSON.stringify(lint) }, changedNothing: true }
    },
  },
  View: ({ project }) => <Checker project={project} />,
})

function Checker({ project }: { project: Project }) {
  const { flash } = useSurroundings()
  return (
    <>
      <CiTabs project={project} at="ci/editor" />
      <h1 class="ci-head">{t.validateCiConfig}</h1>
      <Form action="check">
        <div class="ci-write">
          <Field name="content" label={t.configuration} lines={20} value={flash.content} required />
          <LiveCheck name="content" project={project.path_with_namespace} />
        </div>
        <Switch name="dry_run" label={t.simulatePipeline} hint={t.evaluatesRulesForDefaultBranch} />
        <Button kind="main">{t.validate}</Button>
      </Form>
      {flash.lint && <LintResult of={JSON.parse(flash.lint) as Records['Lint']} />}
    </>
  )
}
