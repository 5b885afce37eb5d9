"""Credential files are known by name; code and templates stay readable."""

from __future__ import annotations

from upbeat.core.sanitize.sensitive_files import is_credential_path

YES = """
.env/.  .ssh/
.env  .ENV  .env.local  .env.production  .env.example.local  app/.env  config/prod.env  .envrc  server.pem
tls/Server.PEM  ca.key  config/master.key  cert.p12  cert.pfx  debug.keystore  release.jks  AuthKey_ABC.p8
id_rsa  id_rsa.pub  id_rsa.bak  keys/id_ed25519  id_ecdsa  id_dsa  id_ed25519_sk  id_rsa-old  ID_RSA
.ssh/config  home/.ssh/known_hosts  .aws/config  .aws/credentials  .gnupg/pubring.kbx  .kube/config
.azure/x.json  secrets/db.txt  deploy/secrets/prod/values.yaml  SECRETS/x  secrets/readme.md  secrets/load.py
.secrets/token  .ssh  .secrets  .npmrc  web/.npmrc  .pypirc  .netrc  _netrc  .git-credentials  .pgpass
.my.cnf  .htpasswd  .dockercfg  .docker/config.json  credentials  credentials.json  Credentials.JSON
credentials.yml.enc  .credentials.json  google-credentials.json  credentials.csv  secrets.yaml  secrets.yml
secrets.json  secrets.toml  secret.json  secrets.env  prod.secrets.yaml  app-secrets.json  secrets
secrets.auto.json  client_secret_123.json  service-account.json  service_account-prod.json
serviceaccount.json  application_default_credentials.json  gh/hosts.yml  .config/gh/hosts.yml  auth.json
.codex/auth.json  kubeconfig  dev.kubeconfig  vault.kdbx  old.kdb  putty.ppk  client.ovpn  key.agekey
terraform.tfstate  terraform.tfstate.backup  env/prod.tfstate  terraform.tfvars  prod.auto.tfvars.json
.terraformrc  terraform.rc  .vault-token  .boto  .s3cfg  wallet.dat  .bash_history  .zsh_history
.python_history  .psql_history  ./.env  a//.env  config\\.env  C:\\repo\\secrets\\x.txt
""".split()  # noqa: SIM905 - easier to read and to add to

NO = """
.env.example  .env.sample  .env.template  .env.dist  .ENV.EXAMPLE  .env.local.example  example.env  sample.env
.env.schema  environment.py  env.py  .environment  env/settings.py  envoy.yaml  .env.md  src/env.ts  dotenv.js
secrets.py  src/secrets.py  secret.go  secrets.test.ts  secrets.rs  credentials.rb  credentials.ts  secrets.sh
secrets.sql  secrets.md  docs/secrets.rst  secrets.example.yaml  secrets.yaml.example  secrets.template.json
secrets.schema.json  credentials.json.sample  secretsanta.json  secretary.yaml  my_secretsanta.yaml
credentialing.json  secrets_manager/client.py  keyboard.py  key.py  keys.json  monkey.txt  turkey.keys
keystore.go  jks.py  README.key.md  pem.c  openpem.txt  pubkey.txt  id_rsa.py  test_id_rsa.rs  id_rsafoo.txt
grid_rsa  id.txt  ssh/config  aws/config.py  ssh_config  .sshrc  my.ssh/x.py  npmrc  .npmignore  netrc.py
.gitconfig  .gitignore  .gitattributes  .yarnrc.yml  htpasswd.go  docker/config.json  config.json  hosts.yml
gh/hosts.yaml  auth.js  auth.jsonl  authentication.json  oauth.json  kube/config.yaml  kubeconfig.go  kdbx.rs
terraform.tf  main.tf  variables.tf  terraform.tfvars.example  tfstate.py  .terraform.lock.hcl  history.py
bash_history  package.json  Makefile  Dockerfile  LICENSE  src/main.py  tests/test_auth.py  token.json
password.html  passwords.txt  tests/fixtures/cert.crt  ca.cer  server.csr  key.pub.txt  release.asc
""".split()  # noqa: SIM905 - easier to read and to add to


def test_is_sensitive() -> None:
    """A credential file is known by its name, in any case."""
    assert dict.fromkeys(YES, True) == {path: is_credential_path(path) for path in YES}


def test_is_not_sensitive() -> None:
    """Code, templates and files with like names are read."""
    paths = ["", "/", ".", *NO]

    assert dict.fromkeys(paths, False) == {path: is_credential_path(path) for path in paths}
