/** CI settings of a project: general, runners, variables, triggers. */
import type { Api, Records } from '../../../api.ts'
import { CiTabs } from '../../../components/CiParts.tsx'
import { Copyable } from '../../../components/CloneBox.tsx'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { Runners, runnerActions } from '../../../components/Runners.tsx'
import { Prose } from '../../../components/State.tsx'
import { Variables, loadVariables, variableActions, type VariablesData } from '../../../components/Variables.tsx'
import { flag } from '../../../fields.ts'
import { projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text, type Act } from '../../../page.ts'
import { Triggers, triggerActions } from './Triggers.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data extends VariablesData {
  triggers: Records['Trigger'][]
  runners: Records['Runner'][]
  sharedHtml: string
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load(request) {
    const { api, params } = request
    const id = params.id!
    const loaded = loadVariables('project', request)
    return {
      ...loaded,
      sharedHtml: loaded.settings.then(({ shared_runners_text: text }) => text && htmlOf(api, text)),
      triggers: api.get('/projects/{id}/triggers', { id, per_page: 100 }),
      runners: api.get('/projects/{id}/runners', { id, per_page: 100 }),
    }
  },
  title: () => t.ciCdSettings,
  actions: { save, ...variableActions('project'), ...runnerActions('project'), renewRegistration, ...triggerActions },
  View: ({ project, variables, edited, triggers, runners, sharedHtml, settings, address, me }) => (
    <>
      <CiTabs project={project} at="settings/ci_cd" />
      <h1 class="ci-head">{t.ciCdSettings}</h1>
      <nav aria-label={t.onThisPage} class="ci-line">
        <a href="#general">{common.pipelines}</a> <a href="#runners">{common.runners}</a>{' '}
        <a href="#variables">{t.variables}</a> <a href="#triggers">{t.triggerTokens}</a>
      </nav>
      <Variables level="project" {...{ variables, edited, settings, address }} />
      <Runners
        scope="project"
        runners={runners}
        server={serverOf(project)}
        me={me}
        note={project.shared_runners_enabled && sharedHtml && <Prose html={sharedHtml} />}
      >
        {project.runners_token && <Registration token={project.runners_token} />}
      </Runners>
      <Triggers triggers={triggers} project={project} me={me} />
      <General project={project} />
    </>
  ),
})

const serverOf = ({ web_url, path_with_namespace }: Project) => web_url.slice(0, -path_with_namespace.length - 1)

const Registration = ({ token }: { token: string }) => (
  <details class="card ci-adding">
    <summary>{t.registrationToken}</summary>
    <p class="quiet">{t.forRunnersThatRegister}</p>
    <Copyable label={t.registrationToken} text={token} />
    <ActButton action="renewRegistration" confirm={t.resetRegistrationTokenCurrentToken}>
      {t.resetToken}
    </ActButton>
  </details>
)

async function renewRegistration({ api, params }: Act): Promise<void> {
  await api.post('/projects/{id}/runners/reset_registration_token', { id: params.id! })
}

const htmlOf = async (api: Api, text: string) => (await api.post('/markdown', { text })).html

const STRATEGIES = [
  ['fetch', 'git fetch'],
  ['clone', 'git clone'],
] as const

const General = ({ project }: { project: Project }) => (
  <section id="general">
    <h2>{common.pipelines}</h2>
    <Form action="save" class="ci-narrow">
      <Switch name="public_jobs" label={t.publicPipelines} isOn={project.public_jobs} />
      <Switch
        name="auto_cancel"
        label={t.autoCancelRedundantPipelines}
        isOn={project.auto_cancel_pending_pipelines === 'enabled'}
      />
      <Switch name="keep_latest_artifact" label={t.keepArtifactsFromMostRecent} isOn={project.keep_latest_artifact} />
      <Switch
        name="shared_runners_enabled"
        label={t.enableInstanceRunnersForThisProject}
        isOn={project.shared_runners_enabled}
      />
      <Field
        name="ci_config_path"
        label={t.ciCdConfigurationFile}
        value={project.ci_config_path}
        placeholder=".gitlab-ci.yml"
        hint={t.pathInRepositoryOrPath}
      />
      <Choice name="build_git_strategy" label={t.gitStrategy} options={STRATEGIES} value={project.build_git_strategy} />
      <Field
        name="ci_default_git_depth"
        label={t.gitShallowCloneDepth}
        type="number"
        value={project.ci_default_git_depth}
        hint={t.zeroFetchesFullHistory}
      />
      <Field name="build_timeout" label={t.timeoutInMinutes} type="number" value={minutes(project.build_timeout)} />
      <Button kind="main">{common.save}</Button>
    </Form>
  </section>
)

const minutes = (seconds: number | undefined) => (seconds === undefined ? '' : seconds / 60)

async function save({ api, params, form }: Act): Promise<void> {
  const depth = text(form, 'ci_default_git_depth')
  await api.put('/projects/{id}', {
    id: params.id!,
    public_jobs: flag(form, 'public_jobs'),
    auto_cancel_pending_pipelines: flag(form, 'auto_cancel') ? 'enabled' : 'disabled',
    keep_latest_artifact: flag(form, 'keep_latest_artifact'),
    shared_runners_enabled: flag(form, 'shared_runners_enabled'),
    ci_config_path: text(form, 'ci_config_path'),
    build_git_strategy: text(form, 'build_git_strategy') === 'clone' ? 'clone' : 'fetch',
    ...(depth !== '' && { ci_default_git_depth: Number(depth) }),
    build_timeout: Math.round(Number(text(form, 'build_timeout')) * 60) || undefined,
  })
}
