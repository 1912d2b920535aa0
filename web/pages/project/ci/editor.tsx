/** The CI file of a branch: edit, check and commit on one page. */
import type { Records } from '../../../api.ts'
import { useSurroundings } from '../../../surroundings.ts'
import { CiTabs } from '../../../components/CiParts.tsx'
import { Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { LintResult } from './LintResult.tsx'
import { Empty } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text, type Act, type PageRequest } from '../../../page.ts'
import { LiveCheck } from './LiveCheck.tsx'
import { pathOf } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data {
  file: { path: string; content: string; commit: string } | null
  lint: Records['Lint'] | null
  branches: string[]
}

const SAMPLE = `stages: [build, test]

build:
  stage: build
  script:
    - echo "Building"

test:
  stage: test
  script:
    - echo "Testing"
`

async function fileLocation({ api, params, query }: PageRequest) {
  const project = await api.get('/projects/{id}', { id: params.id! })
  // A file of another project cannot be edited here.
  const own = project.ci_config_path && !project.ci_config_path.includes('@') ? project.ci_config_path : null
  return { path: own ?? '.gitlab-ci.yml', branch: query.get('branch') || project.default_branch || 'main' }
}

const decoded = (base64: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load(request) {
    const { api, params, me } = request
    const id = params.id!
    const location = fileLocation(request)
    return {
      file: location.then(async ({ path, branch }) => {
        const found = await api.maybe('/projects/{id}/repository/files/{file_path}', {
          id,
          file_path: path,
          ref: branch,
        })
        return found && { path, content: decoded(found.content), commit: found.last_commit_id }
      }),
      lint: me
        ? location.then(({ branch }) =>
            api.maybe('/projects/{id}/ci/lint', { id, content_ref: branch, include_jobs: true }),
          )
        : null,
      branches: api
        .maybe('/projects/{id}/repository/branches', { id, per_page: 100 })
        .then((found) => found?.map(({ name }) => name) ?? []),
    }
  },
  title: () => t.pipelineEditor,
  actions: {
    async check({ api, params, query, form }) {
      const content = text(form, 'content')
      const ref = query.get('branch') || undefined
      const lint = await api.post('/projects/{id}/ci/lint', { id: params.id!, content, ref, include_jobs: true })
      return { flash: { content, lint: JSON.stringify(lint) }, changedNothing: true }
    },
    commit,
  },
  View: Editor,
})

async function commit(act: Act): Promise<string> {
  const { api, params, form } = act
  const { path, branch } = await fileLocation(act)
  const target = text(form, 'branch') || branch
  const write = {
    id: params.id!,
    file_path: path,
    branch: target,
    ...(target !== branch && { start_branch: branch }),
    content: text(form, 'content').replaceAll('\r\n', '\n'),
    commit_message: text(form, 'commit_message') || t.updatePath(path),
  }
  const last = text(form, 'last_commit_id')
  if (last === '') await api.post('/projects/{id}/repository/files/{file_path}', write)
  else
    await api.put('/projects/{id}/repository/files/{file_path}', {
      ...write,
      ...(target === branch && { last_commit_id: last }),
    })
  return `/${params.id!}/-/pipelines?ref=${encodeURIComponent(target)}`
}

function Editor({ project, file, lint, branches, query }: Data & { project: Project; query: URLSearchParams }) {
  const { flash } = useSurroundings()
  const branch = query.get('branch') || project.default_branch || 'main'
  const checked = flash.lint ? (JSON.parse(flash.lint) as Records['Lint']) : file && lint
  return (
    <>
      <CiTabs project={project} at="ci/editor" />
      <div class="head ci-head">
        <h1>{file?.path ?? t.pipelineEditor}</h1>
        <div class="row">
          {file && lint && <span class="badge">{lint.valid ? t.validBadge : t.invalidBadge}</span>}
          <a href={below(project, 'ci/lint')}>{t.validateAnotherFile}</a>
        </div>
      </div>
      {branches.length > 1 && (
        <form class="ci-filters">
          <Choice
            name="branch"
            label={common.branch}
            isQuiet
            value={branch}
            options={branches.map((name) => [name, name] as const)}
          />
          <button class="button">{t.switchBranch}</button>
        </form>
      )}
      {project.can.push ? (
        <Form action="commit" also="check" class="ci-editor">
          {!file && <p class="quiet">{t.noCiConfigurationStartFromExample(branch)}</p>}
          <div class="ci-write">
            <Field name="content" label={t.configuration} lines={24} value={flash.content ?? file?.content ?? SAMPLE} />
            <LiveCheck name="content" project={project.path_with_namespace} />
          </div>
          <input type="hidden" name="last_commit_id" value={file?.commit ?? ''} />
          <Check />
          <Field
            name="commit_message"
            label={t.commitMessage}
            value={file ? t.updatePath(file.path) : t.addCiConfiguration}
          />
          <Field name="branch" label={common.branch} value={branch} hint={t.enterNewNameToCreateBranch} />
          <Button kind="main">{common.commitChanges}</Button>
        </Form>
      ) : file ? (
        <pre tabIndex={0}>{file.content}</pre>
      ) : (
        <Empty title={t.noCiConfigurationOnBranch(branch)} />
      )}
      {checked && <LintResult of={checked} />}
      {project.ci_config_path?.includes('@') && (
        <p class="quiet">
          {rich(t.thisProjectUsesAnotherCi, { pathOf: <code>{pathOf(project.ci_config_path)}</code> })}
        </p>
      )}
    </>
  )
}

/** The same form, sent to another action. */
function Check() {
  const { act } = useSurroundings()
  const check = (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
    event.preventDefault()
    const form = event.currentTarget.form
    if (form) void act('check', new FormData(form))
  }
  return (
    <p>
      <button class="button" name="_action" value="check" onClick={check}>
        {' '}
        {t.validate}{' '}
      </button>
    </p>
  )
}
