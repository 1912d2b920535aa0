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
      <h1>{isPushed ? 'Your code is online' : `Welcome, ${me.name}`}</h1>
      <p>{isPushed ? 'Your first push has arrived.' : 'Three steps to your first push.'}</p>
      <ol class="steps">
        <Step title="Create a project" isDone={project !== null}>
          {project ? (
            <p>
              <a href={`/${project.path_with_namespace}`}>{project.path_with_namespace}</a>
            </p>
          ) : (
            <Form action="begin">
              <Field name="name" label="Project name" required />
              <VisibilityChoice settings={settings} usual={settings.default_project_visibility} />
              <Button kind="main">Create project</Button>
            </Form>
          )}
        </Step>
        <Step title="Set up access" isDone={hasWay}>
          {project ? <WayIn /> : <p class="quiet">Create an access token for HTTP or add an SSH key.</p>}
          {hasWay && (
            <p class="quiet">
              You have {tokens.length}{' '}
              <a href="/-/profile/personal_access_tokens">{tokens.length === 1 ? 'token' : 'tokens'}</a> and{' '}
              {keys.length} <a href="/-/profile/keys">{keys.length === 1 ? 'key' : 'keys'}</a>.
            </p>
          )}
        </Step>
        <Step title="Push" isDone={isPushed}>
          {project ? <Commands project={project} me={me} /> : <p class="quiet">The commands will appear here.</p>}
        </Step>
      </ol>
      {isPushed && (
        <a class="button" data-kind="main" href={`/${project.path_with_namespace}`}>
          Go to project
        </a>
      )}
    </div>
  )
}

const Step = ({ title, isDone, children }: { title: string; isDone: boolean; children: ComponentChildren }) => (
  <li data-done={isDone ? '' : undefined}>
    <h2>
      {title}
      {isDone && <span class="badge">done</span>}
    </h2>
    {children}
  </li>
)

const WayIn = () => (
  <>
    <Secret name="token" label="Token" />
    <p>
      For HTTP, use an access token as the password. <ActButton action="token">Create token</ActButton>
    </p>
    <details>
      <summary>Or add an SSH public key</summary>
      <Form action="key" resets>
        <Field name="key" label="Key" lines={3} required placeholder="ssh-ed25519 AAAA…" />
        <Button>Add key</Button>
      </Form>
    </details>
  </>
)

const Commands = ({ project, me }: { project: Records['Project']; me: Me }) => (
  <>
    <p>In your existing folder:</p>
    <pre tabIndex={0}>{`git init -b main
git add .
git commit -m "First commit"
git remote add origin ${project.http_url_to_repo}
git push -u origin main`}</pre>
    <p>
      When git asks for credentials, enter the username <code>{me.username}</code> and the token as the password.
    </p>
    {project.ssh_url_to_repo !== '' && <Copyable label="SSH" text={project.ssh_url_to_repo} />}
  </>
)
