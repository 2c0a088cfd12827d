// Option tables of programs that transfer data or control clusters, hosts and databases.
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::array kTables = {
    OptionTable{"curl", "aBfGgIijklLMnNpqRsSvVZ0123465#:", "AbCdDeEFHhKcmoPQrtTuUwxXyYz",
        "--anyauth --append --aws-sigv4= --basic --cacert= --capath= --cert= --cert-status "
        "--cert-type= --ciphers= --compressed --compressed-ssh --connect-timeout= --connect-to= "
        "--continue-at= --cookie= --create-file-mode= --crlf --crlfile= --curves= --data= "
        "--data-ascii= --data-binary= --data-raw= --data-urlencode= --delegation= --digest "
        "--disable --disable-eprt --disable-epsv --disallow-username-in-url --dns-interface= "
        "--dns-ipv4-addr= --dns-ipv6-addr= --dns-servers= --doh-cert-status --doh-insecure "
        "--doh-url= --etag-compare= --expect100-timeout= --fail --fail-early --fail-with-body "
        "--false-start --form= --form-escape --form-string= --ftp-account= "
        "--ftp-alternative-to-user= --ftp-create-dirs --ftp-method= --ftp-pasv --ftp-port= "
        "--ftp-pret --ftp-skip-pasv-ip --ftp-ssl-ccc --ftp-ssl-ccc-mode= --ftp-ssl-control --get "
        "--globoff --happy-eyeballs-timeout-ms= --haproxy-protocol --head --header= --help "
        "--hostpubmd5= --hostpubsha256= --http0.9 --http1.0 --http1.1 --http2 "
        "--http2-prior-knowledge --http3 --http3-only --ignore-content-length --include "
        "--insecure --interface= --ipv4 --ipv6 --json= --junk-session-cookies --keepalive-time= "
        "--key= --key-type= --krb= --limit-rate= --list-only --local-port= --location "
        "--location-trusted --login-options= --mail-auth= --mail-from= --mail-rcpt= "
        "--mail-rcpt-allowfails --manual --max-filesize= --max-redirs= --max-time= --metalink "
        "--negotiate --netrc --netrc-file= --netrc-optional --next --no-alpn --no-buffer "
        "--no-clobber --no-fail --no-keepalive --no-npn --no-progress-meter --no-sessionid "
        "--noproxy= --ntlm --ntlm-wb --oauth2-bearer= --parallel --parallel-immediate "
        "--parallel-max= --pass= --path-as-is --pinnedpubkey= --post301 --post302 --post303 "
        "--preproxy= --progress-bar --proto= --proto-default= --proto-redir= --proxy= "
        "--proxy-anyauth --proxy-basic --proxy-cacert= --proxy-capath= --proxy-cert= "
        "--proxy-cert-type= --proxy-ciphers= --proxy-crlfile= --proxy-digest --proxy-header= "
        "--proxy-insecure --proxy-key= --proxy-key-type= --proxy-negotiate --proxy-ntlm "
        "--proxy-pass= --proxy-pinnedpubkey= --proxy-service-name= --proxy-ssl-allow-beast "
        "--proxy-tls13-ciphers= --proxy-tlsv1 --proxy-user= --proxy1.0= --proxytunnel --pubkey= "
        "--quote= --range= --rate= --raw --referer= --remote-time --remove-on-error --request= "
        "--request-target= --resolve= --retry= --retry-all-errors --retry-connrefused "
        "--retry-delay= --retry-max-time= --sasl-authzid= --sasl-ir --service-name= --show-error "
        "--show-headers --silent --socks4= --socks4a= --socks5= --socks5-basic --socks5-gssapi "
        "--socks5-hostname= --speed-limit= --speed-time= --ssl --ssl-allow-beast "
        "--ssl-auto-client-cert --ssl-no-revoke --ssl-reqd --ssl-revoke-best-effort --sslv2 "
        "--sslv3 --styled-output --no-styled-output --suppress-connect-headers --tcp-fastopen "
        "--tcp-nodelay --telnet-option= --tftp-blksize= --tftp-no-options --time-cond= --tls-max= "
        "--tls13-ciphers= --tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --tr-encoding "
        "--trace-ids --trace-time --url= --url-query= --use-ascii --user= --user-agent= "
        "--verbose --version --write-out= --xattr",
        "~-o -O -J -D= -c -K -T ~--output= --output-dir= --remote-name --remote-name-all "
        "--remote-header-name ~--dump-header= ~--cookie-jar= --config= ~--trace= ~--trace-ascii= "
        "~--trace-config= ~--stderr= ~--libcurl= --hsts= --alt-svc= --etag-save= --upload-file= "
        "!--engine= --create-dirs --ssl-sessions= !--unix-socket= !--abstract-unix-socket= "
        "!--expand-* !--variable="},
    OptionTable{"wget", "bdqvcdNSx46rkKmpHLhVFnE", "eoaitTwQBUDARPOlIX",
        "--background --debug --quiet --verbose --no-verbose --report-speed= --force-html --base= "
        "--no-config --tries= --retry-connrefused --retry-on-http-error= --no-clobber --no-netrc "
        "--continue --start-pos= --progress= --show-progress --timestamping "
        "--no-if-modified-since --no-use-server-timestamps --server-response --spider --timeout= "
        "--dns-timeout= --connect-timeout= --read-timeout= --wait= --waitretry= --random-wait "
        "--no-proxy --quota= --bind-address= --limit-rate= --no-dns-cache --restrict-file-names= "
        "--ignore-case --inet4-only --inet6-only --prefer-family= --user= --password= "
        "--ask-password --no-iri --local-encoding= --remote-encoding= --unlink --xattr "
        "--no-directories --force-directories --no-host-directories --protocol-directories "
        "--cut-dirs= --http-user= --http-password= --no-cache --default-page= --adjust-extension "
        "--ignore-length --header= --compression= --max-redirect= --proxy-user= "
        "--proxy-password= --referer= --save-headers --user-agent= --no-http-keep-alive "
        "--no-cookies --load-cookies= --keep-session-cookies --post-data= --method= --body-data= "
        "--content-disposition --content-on-error --auth-no-challenge --secure-protocol= "
        "--https-only --no-check-certificate --certificate= --certificate-type= --private-key= "
        "--private-key-type= --ca-certificate= --ca-directory= --crl-file= --pinnedpubkey= "
        "--ciphers= --no-hsts --ftp-user= --ftp-password= --no-remove-listing --no-glob "
        "--no-passive-ftp --preserve-permissions --retr-symlinks --recursive --level= "
        "--convert-links --convert-file-only --backups= --backup-converted --mirror "
        "--page-requisites --strict-comments --accept= --reject= --accept-regex= --reject-regex= "
        "--regex-type= --domains= --exclude-domains= --follow-ftp --follow-tags= --ignore-tags= "
        "--span-hosts --relative --include-directories= --trust-server-names "
        "--exclude-directories= --no-parent",
        "~-O ~-o ~-a -P -i !-e ~--output-document= ~--output-file= ~--append-output= "
        "--directory-prefix= --input-file= !--execute= !--config= !--use-askpass= "
        "~--rejected-log= ~--save-cookies= --warc-* --post-file= --body-file= --hsts-file= "
        "--delete-after"},
    OptionTable{"rsync", "vqcarRbuldLkKHpEAXogtDJNUOSnWxyzCmihPF046sI", "eBfTM@",
        "--verbose --info= --debug= --stderr= --quiet --checksum --archive --recursive --relative "
        "--backup --backup-dir= --suffix= --update --inplace --append --append-verify --dirs "
        "--old-dirs --mkpath --links --copy-links --copy-unsafe-links --safe-links --munge-links "
        "--copy-dirlinks --keep-dirlinks --hard-links --perms --executability --chmod= --acls "
        "--xattrs --owner --group --devices --specials --times --atimes --crtimes "
        "--omit-dir-times --omit-link-times --super --fake-super --sparse --preallocate --dry-run "
        "--whole-file --checksum-choice= --one-file-system --block-size= --existing "
        "--ignore-existing --ignore-non-existing --del --delete --delete-before --delete-during "
        "--delete-delay --delete-after --delete-excluded --ignore-missing-args "
        "--delete-missing-args --ignore-errors --force --max-delete= --max-size= --min-size= "
        "--max-alloc= --partial --partial-dir= --delay-updates --prune-empty-dirs --numeric-ids "
        "--usermap= --groupmap= --chown= --timeout= --contimeout= --ignore-times --size-only "
        "--modify-window= --temp-dir= --fuzzy --compare-dest= --copy-dest= --link-dest= "
        "--compress --compress-choice= --compress-level= --zc= --zl= --skip-compress= "
        "--cvs-exclude --filter= --exclude= --exclude-from= --include= --include-from= "
        "--files-from= --from0 --old-args --secluded-args --protect-args --trust-sender "
        "--address= --port= --sockopts= --blocking-io --outbuf= --stats --8-bit-output "
        "--human-readable --progress --itemize-changes --out-format= --password-file= "
        "--list-only --bwlimit= --stop-after= --stop-at= --fsync --protocol= --iconv= "
        "--checksum-seed= --ipv4 --ipv6 --no-*",
        "!-e !--rsh= !--rsync-path= ~--log-file= --log-file-format= --write-batch= "
        "--only-write-batch= --read-batch= !--config= !-M !--remote-option= !--daemon !--dparam= "
        "--remove-source-files"},
    OptionTable{"scp", "346ABCOpqRrTv", "cDFiJloPSX", "", "!-S !-o !-F !-D !-J"},
    OptionTable{"nc ncat netcat", "*", "ipqswxXIMmOPTVec", "*",
        "!-e !-c !--exec= !--sh-exec= !--lua-exec= -o --output= -x --hex-dump="},
    OptionTable{"gh", "*", "RLqtsHBblmaFjJX", "*", "!-w !--web !-e !--editor"},
    OptionTable{"helm", "*", "nfo", "--output= *",
        "!--kubeconfig= !--post-renderer= !--post-renderer-args= !--registry-config= "
        "!--repository-config= --repository-cache= --output-dir= !--kube-apiserver= "
        "!--plugins= -d --destination="},
    OptionTable{"terraform tofu", "", "", "*",
        "!-chdir= !-plugin-dir= -out= -state-out= -backup= -generate-config-out= !-backend-config=",
        OptionStyle::words},
    OptionTable{"aws", "*", "", "*", "!--endpoint-url= !--ca-bundle= --outfile !--cli-auto-prompt"},
    OptionTable{"gcloud gsutil", "*", "", "*", "!--flags-file= !--configuration= --log-http*"},
    OptionTable{"mysql mariadb mysqladmin mysqldump mariadb-dump", "*", "uhPDSe", "*",
        "!-e !--execute= ~--tee= !--pager? !--init-command= !--defaults-file= "
        "!--defaults-extra-file= !--plugin-dir= -r --result-file= -T --tab="},
    OptionTable{"psql", "aAbEeHlnqsStwWxXzV01", "cdfFhLopPRTUv",
        "--dbname= --list --set= --variable= --no-psqlrc --single-transaction --help? --echo-all "
        "--echo-errors --echo-queries --echo-hidden --no-readline --quiet --single-step "
        "--single-line --no-align --csv --field-separator= --html --pset= --record-separator= "
        "--tuples-only --table-attr= --expanded --field-separator-zero --record-separator-zero "
        "--host= --port= --username= --no-password --password --version",
        "!-c !--command= !-f !--file= -o --output= -L --log-file= !-v !--set= !--variable= !-P "
        "!--pset="},
};

constexpr std::string_view kKubectlReaders =
    "--template= --all-namespaces --allow-missing-template-keys --chunk-size= --field-selector= "
    "--filename= --ignore-not-found --label-columns= --no-headers --output= "
    "--output-watch-events --raw= --recursive --selector= --server-print --show-kind "
    "--show-labels --show-managed-fields --sort-by= --subresource= --watch --watch-only --as= "
    "--as-group= --as-uid= --cluster= --context= --namespace= --request-timeout= --user= "
    "--warnings-as-errors --all-containers --container= --follow --limit-bytes= "
    "--max-log-requests= --pod-running-timeout= --prefix --previous --since= --since-time= "
    "--tail= --timestamps --show-events --containers --no-trunc --sum --client --short "
    "--api-group= --cached --namespaced --verbs= --categories= --api-version= --v= --for= "
    "--timeout= --all --types= --match-server-version";
constexpr std::array kKubectl = {
    OptionTable{"get describe logs top version explain api-resources api-versions cluster-info "
                "auth wait events diff rollout",
        "ARfpwHq", "fLolncv", kKubectlReaders,
        "!--kubeconfig= !-k !--kustomize= --cache-dir= --profile* --log-* -s !--server= !--token= "
        "!--certificate-authority= !--client-certificate= !--client-key= "
        "!--insecure-skip-tls-verify? !--username= !--password= !--tls-server-name= "
        "--output-directory="},
    OptionTable{"apply create delete edit exec expose label annotate patch scale run set attach cp "
                "drain cordon uncordon taint autoscale replace port-forward proxy debug "
                "completion certificate kustomize config options",
        "*", "fnlkco", "*",
        "!--kubeconfig= !-k !--kustomize= --cache-dir= --profile* --log-* !--server= !--token= "
        "!--enable-exec !--enable-helm !--enable-alpha-plugins !--helm-command="},
};

constexpr std::array kDocker = {
    OptionTable{"ps images logs inspect version info port top stats diff history events ls",
        "aqlsftd", "nf",
        "--all --filter= --format= --last= --latest --no-trunc --quiet --size --digests --tree "
        "--details --follow --since= --tail= --timestamps --until= --type= --no-stream --human",
        ""},
    OptionTable{"run create exec", "diPqt", "acehlmpuvw",
        "--add-host= --attach= --blkio-weight= --cap-drop= --cpu-count= --cpu-percent= "
        "--cpu-period= --cpu-quota= --cpu-rt-period= --cpu-rt-runtime= --cpu-shares= --cpus= "
        "--cpuset-cpus= --cpuset-mems= --detach --detach-keys= --disable-content-trust --dns= "
        "--dns-option= --dns-search= --domainname= --entrypoint= --env= --env-file= --expose= "
        "--gpus= --group-add= --health-cmd= --health-interval= --health-retries= "
        "--health-start-interval= --health-start-period= --health-timeout= --hostname= --init "
        "--interactive --ip= --ip6= --isolation= --label= --label-file= --link= --link-local-ip= "
        "--log-driver= --mac-address= --memory= --memory-reservation= --memory-swap= "
        "--memory-swappiness= --name= --network= --net= --network-alias= --no-healthcheck "
        "--oom-kill-disable --oom-score-adj= --pids-limit= --platform= --publish= --publish-all "
        "--pull= --quiet --read-only --restart= --rm --shm-size= --sig-proxy --stop-signal= "
        "--stop-timeout= --sysctl= --tmpfs= --tty --ulimit= --user= --workdir=",
        "!-v !--volume= !--volumes-from= !--volume-driver= !--mount= !--privileged !--device* "
        "!--pid= !--ipc= !--userns= !--uts= !--cap-add= !--security-opt= !--cgroup-parent= "
        "!--cgroupns= --cidfile= !--runtime= !--annotation= !--use-api-socket --pidfile= "
        "!--storage-opt= !--log-opt=", OptionStyle::before_operand},
    OptionTable{"build buildx", "*", "ftoc", "*",
        "-o --output= --iidfile= --metadata-file= !--secret= !--ssh= !--builder= !--allow= "
        "!--entitlement= --cache-to= !--call= !--call"},
    OptionTable{"save export", "", "o", "--platform=", "-o --output="},
    OptionTable{"compose", "*", "fp", "*",
        "!-f !--file= !--project-directory= !--env-file="},
};
// clang-format on

}  // namespace

std::span<const OptionTable> network_tables() { return kTables; }
std::span<const OptionTable> kubectl_tables() { return kKubectl; }
std::span<const OptionTable> docker_tables() { return kDocker; }

}  // namespace agentrt::policy::shell
