"""Where secrets stand in the files, commands, languages and errors of a company; and what stands there without one."""

PASSWORD, KEY = "Gr8-oakTree!", "j2t2Zccul7Lf5HXBdzm7Cp4jn6vzhK4O2n11RbBX"
OF_PASSWORDS = (
    "- name: MYSQL_PASSWORD\n  value: {}", '[{{"name": "DB_PASSWORD", "value": "{}"}}]', "<pwd>{}</pwd>",
    '<property name="password" value="{}"/>', 'variable "admin_password" {{\n  type    = string\n  default = "{}"\n}}',
    "define('DB_PASSWORD', '{}');", "putenv('DB_PASS={}')", "user: jo\npass: {}\n", "ansible_ssh_pass={}",
    "https://h.io/login?user=jo&pass={}&x=1", "curl -s -u jo:{} https://h.io", "curl --user 'jo:{}' https://h.io",
    "mysqldump -h db -u root -p{} shop", "docker login -u jo -p {} registry.io", "sshpass -p '{}' ssh jo@h",
    "ldapsearch -x -D cn=a -w {} -b dc=x", r"net use Z: \\srv\share /user:jo {}", "tool --user jo --password {}",
    "auth=('jo', '{}')", "CREATE USER jo WITH PASSWORD '{}'", "db.io:5432:shop:jo:{}",
    "Das Passwort lautet {}", "Le mot de passe est : {}", "La password è {}", "Lösenordet är {}", "mật khẩu: {}",
    "كلمة المرور: {}", "κωδικός: {}", "口令：{}",
)  # fmt: skip
OF_KEYS = (
    '<add key="ApiSecret" value="{}" />', "define( 'NONCE_KEY', '{}' );", 'put("api_key", "{}")',
    "encryption_key = b'{}'", "app --api-key {} --verbose", "algolia_admin_key: {}", '{{"x-functions-key": "{}"}}',
    "<apiKey>{}</apiKey>", "Dein API-Schlüssel: {}", "APIキー：{}", "API-ключ: {}", "clé d'API : {}",
    "Incorrect API key provided: {}. You can find yours in the settings", "ValueError: expired token '{}'",
)  # fmt: skip
WITHOUT = (
    "api_key=config.api_key_v2", "secret=settings.SECRET_KEY2", "private_key_id: 0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "curl -u $USER:$PASS1234 https://h.io", "auth=('user', os.environ['PASS2'])", "10:30:45:123:worker-thread-12",
    "mysql -u root -p shop", "--password-file /run/secrets/db1", "--secret-name projects/acme/secrets/db2024x",
    "boarding pass: LH400-12A", "bypass=route66north", "&pass=1&fail=0", "PASS: test_module2_ok (0.01s)",
    "the columns are 'password', 'username2024'", "password is SHA256-based", "<password>********</password>",
    'variable "token_ttl" {\n  default = "3600seconds"\n}', "define('AUTH_KEY', 'put your unique phrase here');",
    "Unexpected token 'export' (v8-compile-cache-12345.js)", "secret 'db-credentials' not found in 'prod-eu-west-1'",
    "pa-system-installation-guide-2024-version-2-final", "sk-learn-compatible-estimator-v2",
    "> -----BEGIN PRIVATE KEY-----\n> Paste the lines of your private key here, all\n> -----END PRIVATE KEY-----",
    "ABANDON ABILITY ABLE ABOUT ABOVE ABSENT ABSORB ABSTRACT ABSURD ABUSE ACCESS ACCIDENT",
)  # fmt: skip
