/** From an empty server to the first push: a project, a credential, and the commands. */
import type { ComponentChildren } from 'preact'
import type { Records } from '../../../api.ts'
import { Copyable } from '../../../components/CloneBox.tsx'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { VisibilityChoice } from '../../../components/Visibilities.tsx'
import { Secret } from '../../../components/settings.tsx'
import { word } from '../../../fields.ts'
import type { VisibilityWord } from '../../../levels.ts'
import { text, type Act, type Me } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'
import './FirstSteps.css'

export async function begin({ api, form }: Act): Promise<string> {
  const project = await api.post('/projects', {
    name: text(form, 'name'),
    visibility: word<VisibilityWord>(form, 'visibility'),
  })
  return `/-/welcome?project=${encodeURIComponent(project.path_with_namespace)}`
}

interface Props {
  me: Me
  settings: Records['WebSettings']
  project: Records['Project'] | null
  tokens: readonly Records['PersonalAccessToken'][]
  keys: readonly Records['SshKey'][]
}

export function FirstSteps({ me, settings, project, tokens, keys }: Props) {
  const hasWay = tokens.length + keys.length > 0
  const isPushed = project !== null && !project.empty_repo
  return (
    <div class="narrow">
      <h1>{isPushed ? t.yourCodeIsOnline : t.welcomeName(me.name)}</h1>
      <p>{isPushed ? t.yourFirstPushHasArrived : t.threeStepsToYourFirstPush}</p>
      <ol class="steps">
        <Step title={t.createProject} isDone={project !== null}>
          {project ? (
            <p>
              <a href={`/${project.path_with_namespace}`}>{project.path_with_namespace}</a>
            </p>
          ) : (
            <Form action="begin">
              <Field name="name" label={t.projectName} required />
              <VisibilityChoice settings={settings} usual={settings.default_project_visibility} />
              <Button kind="main">{common.createProject}</Button>
            </Form>
          )}
        </Step>
        <Step title={t.setUpAccess} isDone={hasWay}>
          {project ? <WayIn /> : <p class="quiet">{t.createAccessTokenForHttp}</p>}
          {hasWay && (
            <p class="quiet">
              {rich(t.youHaveTokensAndKeys(tokens.length, keys.length), {
                tokens: (text) => <a href="/-/profile/personal_access_tokens">{text}</a>,
                keys: (text) => <a href="/-/profile/keys">{text}</a>,
              })}
            </p>
          )}
        </Step>
        <Step title={t.push} isDone={isPushed}>
          {project ? <Commands project={project} me={me} /> : <p class="quiet">{t.theCommandsWillAppearHere}</p>}
        </Step>
      </ol>
      {isPushed && (
        <a class="button" data-kind="main" href={`/${project.path_with_namespace}`}>
          {t.goToProject}
        </a>
      )}
    </div>
  )
}

const Step = ({ title, isDone, children }: { title: string; isDone: boolean; children: ComponentChildren }) => (
  <li data-done={isDone ? '' : undefined}>
    <h2>
      {title}
      {isDone && <span class="badge">{t.doneBadge}</span>}
    </h2>
    {children}
  </li>
)

const WayIn = () => (
  <>
    <Secret name="token" label={common.token} />
    <p>
      {t.forHttpUseAccessToken} <ActButton action="token">{common.createToken}</ActButton>
    </p>
    <details>
      <summary>{t.orAddSshPublicKey}</summary>
      <Form action="key" resets>
        <Field name="key" label={t.key} lines={3} required placeholder="ssh-ed25519 AAAA…" />
        <Button>{common.addKey}</Button>
      </Form>
    </details>
  </>
)

const Commands = ({ project, me }: { project: Records['Project']; me: Me }) => (
  <>
    <p>{t.inYourExistingFolder}</p>
    <pre tabIndex={0}>{`git init -b main
git add .
git commit -m "First commit"
git remote add origin ${project.http_url_to_repo}
git push -u origin main`}</pre>
    <p>{rich(t.whenGitAsksForCredentials, { username: <code>{me.username}</code> })}</p>
    {project.ssh_url_to_repo !== '' && <Copyable label={common.ssh} text={project.ssh_url_to_repo} />}
  </>
)
