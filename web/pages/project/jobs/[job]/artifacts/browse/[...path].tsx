export { artifactPage as page } from '../../../../../../components/ArtifactBrowser.tsx'
